// PTX that is taken and PTX that is refused, from texts, and texts spoilt at random.
#include "backends/gpu/ptx/parser.h"

#include <map>

#include "backends/gpu/ptx/print.h"
#include "gtest/gtest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlo::ptx {
namespace {

std::string Read(llvm::StringRef name) {
  const auto buffer =
      llvm::MemoryBuffer::getFile((llvm::Twine(HLO_SOURCE_DIR "/backends/gpu/ptx/") + name).str());
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// The text stays, as errors point into it.
auto Parse(std::string text) {
  static SourcePtr last;
  last = std::make_shared<SourceBuffer>("test.ptx", std::move(text));
  return ParseModule(last);
}

/// A kernel around a statement, which is on its line 13.
std::string Around(llvm::StringRef target, llvm::StringRef statement) {
  const auto [sm, version] = target.split(' ');
  return (".version " + version + "\n.target " + sm + R"(
.address_size 64
.global .align 16 .b8 gl[1024];
.const .align 16 .b8 cn[1024];
.shared .align 16 .b8 sm[1024];
.visible .entry k(.param .u64 par)
{
  .reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .f64 %fd<10>;
  .reg .u32 %u<10>; .reg .s32 %s<10>; .reg .f16 %h<10>; .reg .f16x2 %hh<10>;
  .local .align 16 .b8 lo[1024];
L:
)" + statement +
          "\n}\n")
      .str();
}

TEST(Ptx, InstructionsAreTakenOrRefused) {
  const std::string text = Read("instructions_test.ptx");
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n', -1, false);
  std::string target;
  size_t taken = 0, refused = 0;
  for (llvm::StringRef line : lines) {
    if (line.consume_front("// TARGET ")) target = line.str();
    if (line.starts_with("//") || target.empty() || line.starts_with("sm_")) continue;
    auto [statement, comment] = line.split("  // ERROR: ");
    const auto module = Parse(Around(target, statement));
    if (comment.empty()) {
      ++taken;
      EXPECT_TRUE(module) << target << ": " << statement.str() << "\n"
                          << (module ? "" : Render(module.error()));
      continue;
    }
    ++refused;
    ASSERT_FALSE(module) << target << ": " << statement.str();
    EXPECT_TRUE(llvm::StringRef(module.error().message).contains(comment)) << statement.str() << "\n"
                                                                           << module.error().message;
    const unsigned at = FindLineColumn(*module.error().loc.source, module.error().loc.begin).line;
    EXPECT_TRUE(at == 13 || at == 14) << statement.str() << "\n" << Render(module.error());
  }
  EXPECT_GT(taken, 150U);
  EXPECT_GT(refused, 100U);
}

TEST(Ptx, ModulesAreTakenOrRefused) {
  const std::string text = Read("modules_test.ptx");
  llvm::SmallVector<llvm::StringRef> cases;
  llvm::StringRef(text).split(cases, "// -----\n");
  EXPECT_GT(cases.size(), 20U);
  for (const llvm::StringRef part : cases) {
    const auto module = Parse(part.str());
    const size_t at = part.find("// ERROR: ");
    if (at == llvm::StringRef::npos) {
      EXPECT_TRUE(module) << part.str() << (module ? "" : Render(module.error()));
      continue;
    }
    ASSERT_FALSE(module) << part.str();
    const llvm::StringRef expected = part.drop_front(at + 10).take_until([](char c) { return c == '\n'; });
    EXPECT_TRUE(llvm::StringRef(module.error().message).contains(expected))
        << part.str() << module.error().message;
    const auto line = static_cast<unsigned>(part.take_front(at).count('\n')) + 1;
    const unsigned found = FindLineColumn(*module.error().loc.source, module.error().loc.begin).line;
    EXPECT_TRUE(found == line || found == line + 1) << Render(module.error());
  }
}

/// All that is taken, once more from what is printed of it, and printed the same.
TEST(Ptx, WhatIsPrintedIsReadAgain) {
  std::vector<std::string> texts;
  const std::string modules = Read("modules_test.ptx");
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(modules).split(parts, "// -----\n");
  for (const llvm::StringRef part : parts) texts.push_back(part.str());
  const std::string instructions = Read("instructions_test.ptx");
  std::string target;
  parts.clear();
  llvm::StringRef(instructions).split(parts, '\n', -1, false);
  for (llvm::StringRef line : parts) {
    if (line.consume_front("// TARGET ")) target = line.str();
    if (!line.starts_with("//") && !line.contains("ERROR") && !target.empty() && !line.starts_with("sm_"))
      texts.push_back(Around(target, line));
  }
  for (const std::string& text : texts) {
    const auto module = Parse(text);
    if (!module) continue;
    const std::string printed = ToString(**module);
    const auto again = Parse(printed);
    ASSERT_TRUE(again) << printed << Render(again.error());
    EXPECT_EQ(ToString(**again), printed);
  }
}

/// Numbers that look random, the same in every run.
class Random {
 public:
  uint64_t Below(uint64_t bound) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return bound == 0 ? 0 : state_ % bound;
  }

 private:
  uint64_t state_ = 88172645463325252;
};

constexpr llvm::StringRef kPieces[] = {
    "{",  "}",  "[",  "]",  "(",    ")",  ";",    ",",      ".",          "<",
    "0x", "::", "%p", "@",  "!",    "=",  "-",    "1e",     ".v4",        "_",
    "|",  "+",  "/*", "\"", "0f3F", "<<", ".reg", ".param", "4294967296", ".b8 x[99999999999]"};

void Spoil(std::string& text, Random& random) {
  const uint64_t at = random.Below(text.size()), length = random.Below(12);
  switch (random.Below(4)) {
    case 0: text.erase(at, length); break;
    case 1: text.insert(at, kPieces[random.Below(std::size(kPieces))].str()); break;
    case 2: text.insert(at, text.substr(random.Below(text.size()), length)); break;
    default:
      if (!text.empty()) text[at] = static_cast<char>(random.Below(256));
  }
}

/// Letters, words and lines changed, lost or doubled: an error or a module, never a crash.
TEST(Ptx, SpoiltTextsAreRefusedOrTaken) {
  std::string all;
  const std::string instructions = Read("instructions_test.ptx"), modules = Read("modules_test.ptx");
  llvm::SmallVector<llvm::StringRef> lines, parts;
  llvm::StringRef(instructions).split(lines, '\n', -1, false);
  for (const llvm::StringRef line : lines)
    if (!line.contains("//")) all += (line + "\n").str();
  const std::string whole = Around("sm_90 8.5", all);
  llvm::StringRef(modules).split(parts, "// -----\n");
  Random random;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    std::string text = round % 4 == 0 ? whole : parts[random.Below(parts.size())].str();
    for (uint64_t edits = 1 + random.Below(3); edits > 0; --edits) Spoil(text, random);
    (void)Parse(text);
  }
}

/// What nests without end.
TEST(Ptx, DeepTextsAreRefused) {
  constexpr int kDepth = 100000;
  for (const char* piece : {"{", "(", "-", "!", "~", "1?", "{ {", "[", "@"}) {
    std::string many;
    for (int i = 0; i < kDepth; ++i) many += piece;
    EXPECT_FALSE(Parse(Around("sm_80 8.0", "mov.u32 %r1, " + many)));
    EXPECT_FALSE(Parse(Around("sm_80 8.0", many)));
    EXPECT_FALSE(Parse(".version 8.0\n.target sm_80\n.global .b32 x[4] = " + many));
  }
}

}  // namespace
}  // namespace hlo::ptx
