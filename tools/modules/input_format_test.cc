// Formats that text files cannot hold: binary modules, and text with stray bytes (tools.md §1.2).
#include "gtest/gtest.h"
#include "tools/modules/inputs.h"

namespace hlo {
namespace {

constexpr llvm::StringLiteral kBinary = "a binary protocol buffer";

/// The message for the content of `file`, empty if it counts as HLO text.
std::string Refusal(llvm::StringRef file, llvm::StringRef text) {
  if (FindProtoForm(file, text, InputFormat::Auto) == ProtoForm::Binary) return kBinary.str();
  std::vector<Diagnostic> warnings;
  const Status status = CheckFormat(file, text, InputFormat::Auto, warnings);
  return status ? "" : status.error().message;
}

TEST(InputFormat, StrayBytesDoNotMakeTextBinary) {
  constexpr llvm::StringLiteral kText = "HloModule m\nENTRY e {\n  ROOT p = f32[4] parameter(0)\n}\n";
  for (size_t at = 0; at < kText.size(); ++at)
    for (const char stray : {'\0', '\x01', '\x12', '\x7f', '\xff'}) {
      std::string text = kText.str();
      text[at] = stray;
      EXPECT_EQ(Refusal("m.hlo", text), "") << at;
      EXPECT_EQ(Refusal("-", text), "") << at;
    }
}

TEST(InputFormat, NameAndBeginningDecideForText) {
  const std::string text = "HloModule " + std::string(100, '\0');
  EXPECT_EQ(Refusal("m.hlo", text), "");
  EXPECT_EQ(Refusal("m.txt", text), "");
  EXPECT_EQ(Refusal("m.pb", text), kBinary);
  EXPECT_EQ(Refusal("m.hlo", "(x\xffx\xff"), "");
  EXPECT_EQ(Refusal("m.pb", "(x\xffx\xff"), kBinary);
  EXPECT_EQ(Refusal("m.hlo", "{ ROOT p = f32[4] parameter(0) }"), "");
  EXPECT_EQ(Refusal("-", "{ ROOT p = f32[4] parameter(0) }"), "found JSON, expected HLO text");
}

TEST(InputFormat, BinaryModulesAreRecognisedUnderAnyName) {
  const std::string module = "\n\x05jit_f\x12\x04main";
  const std::string long_name = "\nA" + std::string(65, 'a') + "\x12\x04main" + std::string(500, 'x');
  for (const llvm::StringRef file : {"m.pb", "m.hlo", "-"}) {
    EXPECT_EQ(Refusal(file, module), kBinary);
    EXPECT_EQ(Refusal(file, long_name), kBinary);
    // A module in a larger message, whose length takes two bytes.
    EXPECT_EQ(Refusal(file, "\n\xc9\x04" + long_name), kBinary);
    EXPECT_EQ(Refusal(file, std::string(100, '\x08')), kBinary);
  }
}

}  // namespace
}  // namespace hlo
