// Damaged and unusual array files.
#include "tools/arrays/npy.h"

#include <gtest/gtest.h>

#include "tools/arrays/zip.h"

namespace hlo {
namespace {

std::string Npy(llvm::StringRef descr, bool fortran, llvm::StringRef shape, llvm::StringRef data,
                char version = 1) {
  std::string header = ("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                        ", 'shape': " + shape + ", }\n")
                           .str();
  std::string text("\x93NUMPY", 6);
  text += version;
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i));
  return text + header + data.str();
}

Shape Array(ElementType type, llvm::ArrayRef<int64_t> dims) {
  return Shape::ArrayWithDefaultLayout(type, dims);
}

TEST(Npy, ReadsColumnMajorOrder) {
  const std::string text = Npy("|u1", true, "(2, 3)", "\1\4\2\5\3\6");
  const auto arrays = ReadNpy(text, nullptr);
  ASSERT_TRUE(arrays);
  const Literal l = ToLiteral(arrays->front(), Array(ElementType::U8, {2, 3}));
  EXPECT_EQ(std::vector<uint8_t>(l.data(), l.data() + 6), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, SwapsBigEndianNumbers) {
  const std::string text = Npy(">i4", false, "(1,)", llvm::StringRef("\0\0\1\2", 4));
  const auto arrays = ReadNpy(text, nullptr);
  ASSERT_TRUE(arrays);
  EXPECT_EQ(ToLiteral(arrays->front(), Array(ElementType::S32, {1})).Data<int32_t>()[0], 258);
}

TEST(Npy, ReadsAllVersionsAndConcatenatedArrays) {
  for (const char version : {'\1', '\2', '\3'}) {
    const std::string one = Npy("|b1", false, "()", "\1", version);
    const auto arrays = ReadNpy(one + one, nullptr);
    ASSERT_TRUE(arrays) << static_cast<int>(version);
    EXPECT_EQ(arrays->size(), 2u);
  }
}

TEST(Npy, TakesAnyArrayOfTheItemSizeForTypesNumpyLacks) {
  const std::string text = Npy("<u2", false, "(1,)", llvm::StringRef("\x80\x3f", 2));
  const auto arrays = ReadNpy(text, nullptr);
  ASSERT_TRUE(arrays);
  EXPECT_TRUE(Fits(arrays->front(), Array(ElementType::BF16, {1})));
  EXPECT_FALSE(Fits(arrays->front(), Array(ElementType::F16, {1})));
  EXPECT_EQ(Describe(arrays->front()), "u16[1]");
}

TEST(Npy, ExtendsTheSignOfSubByteElements) {
  const std::string text = Npy("|V1", false, "(2,)", "\x0f\xf7");
  const auto arrays = ReadNpy(text, nullptr);
  ASSERT_TRUE(arrays);
  const Literal l = ToLiteral(arrays->front(), Array(ElementType::S4, {2}));
  EXPECT_EQ(l.Data<int8_t>()[0], -1);
  EXPECT_EQ(l.Data<int8_t>()[1], 7);
}

TEST(Npy, RefusesWhatIsTruncatedOrLies) {
  const std::string good = Npy("<f4", false, "(2, 3)", std::string(24, '\0'));
  ASSERT_TRUE(ReadNpy(good, nullptr));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(ReadNpy(llvm::StringRef(good).take_front(size), nullptr)) << size;
  for (const char* shape :
       {"(1000000000000, 1000000000000)", "(99999999999999999999,)", "(-1,)", "(2", "2", "(2, x)"})
    EXPECT_FALSE(ReadNpy(Npy("<f4", false, shape, ""), nullptr)) << shape;
  for (const char* descr : {"|O", "<U4", "<f0", "<f99", "", "<M8[ns]"})
    EXPECT_FALSE(ReadNpy(Npy(descr, false, "(1,)", std::string(16, '\0')), nullptr)) << descr;
}

std::string Zip() {
  std::string text;
  llvm::raw_string_ostream out(text);
  ZipWriter zip(out);
  zip.Add("a", {"hello ", "world"});
  zip.Add("b", {""});
  zip.Finish();
  return text;
}

TEST(Zip, ReadsWhatItWrites) {
  const std::string text = Zip();
  const auto members = ReadZip(text, nullptr);
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 2u);
  EXPECT_EQ(members->front().name, "a");
  EXPECT_EQ(members->front().data, "hello world");
  EXPECT_EQ(members->back().data, "");
}

TEST(Zip, NoDamageGoesUnnoticedOrCrashes) {
  const std::string good = Zip();
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(ReadZip(llvm::StringRef(good).take_front(size), nullptr)) << size;
  for (size_t at = 0; at < good.size(); ++at)
    for (const int value : {0, 255, good[at] ^ 1}) {
      std::string bad = good;
      bad[at] = static_cast<char>(value);
      const auto members = ReadZip(bad, nullptr);
      if (members && !members->empty()) EXPECT_LE(members->front().data.size(), good.size());
    }
  std::string bad = good;
  bad[bad.find("hello")] = 'j';
  const auto members = ReadZip(bad, nullptr);
  ASSERT_FALSE(members);
  EXPECT_NE(members.error().message.find("checksum"), std::string::npos);
}

}  // namespace
}  // namespace hlo
