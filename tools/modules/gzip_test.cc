// Compressed modules; text files cannot hold them.
#include "tools/common/gzip.h"

#include "gtest/gtest.h"
#include "tools/modules/inputs.h"

namespace hlo {
namespace {

constexpr llvm::StringLiteral kModule = "HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }\n";

TEST(Gzip, MembersFollowEachOther) {
  std::string large;
  for (int i = 0; i < 100'000; ++i) large += kModule;
  const auto text = Gunzip(Gzipped(large) + Gzipped("") + Gzipped(kModule));
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, large + kModule.str());
}

TEST(Gzip, SpoiledDataAreErrors) {
  const std::string whole = Gzipped(kModule);
  for (size_t size = 2; size < whole.size(); ++size) {
    const auto text = Gunzip(llvm::StringRef(whole).take_front(size));
    ASSERT_FALSE(text) << size;
    EXPECT_EQ(text.error().id.text(), "input-format");
  }
  for (size_t at = 2; at < whole.size(); ++at)
    for (const int flip : {1, 64, 255}) {
      std::string spoiled = whole;
      spoiled[at] = static_cast<char>(spoiled[at] ^ flip);
      if (const auto text = Gunzip(spoiled)) EXPECT_EQ(*text, kModule) << at;  // what the header says besides
    }
}

TEST(Gzip, ModulesAreRead) {
  const std::string packed = Gzipped(kModule);
  const CommonOptions options;
  DiagnosticSink sink("hlo-opt", options, llvm::nulls());
  InputReader reader(options, {}, packed, sink);
  const auto module = reader.Next();
  ASSERT_TRUE(module && module->module);
  EXPECT_EQ(module->name, "m");
}

}  // namespace
}  // namespace hlo
