// Numbers and arrays print as hlo-text §6.1 says: compared with C's printf.
#include <cmath>
#include <cstring>
#include <random>

#include "gtest/gtest.h"
#include "ir/numeric/narrow_float.h"
#include "ir/print.h"

namespace hlo {
namespace {

std::string Text(const Literal& literal) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintLiteral(os, literal);
  return text;
}

template <class T>
std::string ByPrintf(T value, int few, int many) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", few, static_cast<double>(value));
  const T back = sizeof(T) == 4 ? static_cast<T>(std::strtof(text, nullptr))
                                : static_cast<T>(std::strtod(text, nullptr));
  if (back != value) std::snprintf(text, sizeof text, "%.*g", many, static_cast<double>(value));
  return text;
}

TEST(PrintLiteral, F32MatchesPrintfRule) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 100000; ++i) {
    float v = std::bit_cast<float>(static_cast<uint32_t>(rng()));
    if (i % 4 == 1) v = static_cast<float>(static_cast<int>(rng() % 2000000)) / 1000.0f;
    if (i % 4 == 2)
      v = static_cast<float>(
          std::ldexp(static_cast<double>(rng() % 4096), static_cast<int>(rng() % 60) - 40));
    if (i % 64 == 3) v = std::bit_cast<float>(static_cast<uint32_t>(rng() % 0x800000));  // subnormal
    if (!std::isfinite(v)) continue;
    ASSERT_EQ(Text(Literal::Scalar(ElementType::F32, v)), ByPrintf(v, 6, 9)) << std::hexfloat << v;
  }
}

TEST(PrintLiteral, F64MatchesPrintfRule) {
  std::mt19937_64 rng(2);
  for (int i = 0; i < 100000; ++i) {
    double v = std::bit_cast<double>(rng());
    if (i % 4 == 1) v = static_cast<double>(rng() % 2000000) / 1000.0;
    if (i % 4 == 2) v = static_cast<double>(rng()) * 1e-5;
    if (i % 64 == 3) v = std::bit_cast<double>(rng() % (uint64_t{1} << 52));
    if (!std::isfinite(v)) continue;
    ASSERT_EQ(Text(Literal::Scalar(ElementType::F64, v)), ByPrintf(v, 15, 17)) << std::hexfloat << v;
  }
}

TEST(PrintLiteral, SpecialValues) {
  const auto f32 = [](uint32_t code) { return Text(Literal::Scalar(ElementType::F32, code)); };
  EXPECT_EQ(f32(0x80000000), "-0");
  EXPECT_EQ(f32(0x7f800000), "inf");
  EXPECT_EQ(f32(0xff800000), "-inf");
  EXPECT_EQ(f32(0x7fc00000), "nan");
  EXPECT_EQ(f32(0xffc00000), "-nan");
  EXPECT_EQ(f32(0x7f800001), "nan(0x1)");
  EXPECT_EQ(f32(0xffffffff), "-nan(0x7fffff)");
  const auto byte = [](ElementType type, uint8_t code) { return Text(Literal::Scalar(type, code)); };
  EXPECT_EQ(byte(ElementType::F8E4M3FN, 0x7f), "nan");
  EXPECT_EQ(byte(ElementType::F8E4M3FN, 0xff), "-nan");
  EXPECT_EQ(byte(ElementType::F8E5M2FNUZ, 0x80), "-nan");
  EXPECT_EQ(byte(ElementType::F8E8M0FNU, 0xff), "nan");
  EXPECT_EQ(byte(ElementType::F8E8M0FNU, 0), "5.9e-39");
  EXPECT_EQ(byte(ElementType::F8E5M2, 0x7d), "nan(0x1)");
  EXPECT_EQ(byte(ElementType::Pred, 1), "true");
}

Literal Iota(llvm::ArrayRef<int64_t> dims) {
  Literal l = Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::S32, dims));
  int32_t n = 0;
  for (int32_t& v : l.MutableSpan<int32_t>()) v = ++n;
  return l;
}

TEST(PrintLiteral, Nesting) {
  EXPECT_EQ(Text(Iota({})), "1");
  EXPECT_EQ(Text(Iota({0})), "{}");
  EXPECT_EQ(Text(Iota({2})), "{1, 2}");
  EXPECT_EQ(Text(Iota({2, 2})), "{ { 1, 2 }, { 3, 4 } }");
  EXPECT_EQ(Text(Iota({2, 1})), "{ {1}, {2} }");
  EXPECT_EQ(Text(Iota({0, 2})), "{  }");
  EXPECT_EQ(Text(Iota({1, 0})), "{ {} }");
  EXPECT_EQ(Text(Iota({1, 1, 2})), "{ { { 1, 2 } } }");
  EXPECT_EQ(Text(Iota({1, 1, 1, 1})), "{ { /*i0=0*/ { /*i1=0*/ {1} } } }");
  EXPECT_EQ(Text(Iota({2, 0, 1, 1})), "{ { /*i0=0*/ }, { /*i0=1*/ } }");
  EXPECT_EQ(Text(Literal::MakeTuple({Iota({}), Iota({1})})), "( 1, {1} )");
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintLiteralWithShape(os, Literal::MakeTuple({Iota({}), Iota({1})}));
  EXPECT_EQ(text, "( s32[] 1, s32[1]{0} {1} )");
}

}  // namespace
}  // namespace hlo
