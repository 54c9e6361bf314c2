// Invariants of comparisons, over random edits of random modules.
#include <gtest/gtest.h>

#include <random>

#include "ir/print.h"
#include "llvm/ADT/DenseSet.h"
#include "parser/parser.h"
#include "tools/diff/compare/module_diff.h"

namespace hlo {
namespace {

using Rng = std::mt19937;

std::unique_ptr<Module> Parse(const std::string& text) {
  ParseResult result = ParseModule(std::make_shared<SourceBuffer>("m.hlo", text));
  EXPECT_TRUE(result.module) << text;
  return std::move(result.module);
}

/// A line of the entry computation: opcode and operands by number.
struct Line {
  const char* opcode;
  std::vector<int> operands;
};

constexpr const char* kUnary[] = {"negate", "exponential", "tanh", "abs"};
constexpr const char* kBinary[] = {"add", "subtract", "multiply", "maximum"};

int Below(Rng& rng, size_t n) { return static_cast<int>(rng() % n); }

Line RandomLine(Rng& rng, int before) {
  if (rng() % 2 == 0) return {kUnary[rng() % 4], {Below(rng, static_cast<size_t>(before))}};
  return {kBinary[rng() % 4],
          {Below(rng, static_cast<size_t>(before)), Below(rng, static_cast<size_t>(before))}};
}

std::vector<Line> RandomLines(Rng& rng) {
  std::vector<Line> lines = {{"parameter", {}}, {"parameter", {}}};
  for (const int count = 3 + Below(rng, 40); static_cast<int>(lines.size()) < count;)
    lines.push_back(RandomLine(rng, static_cast<int>(lines.size())));
  return lines;
}

/// All lines are operands of the root, so that none is dead.
std::string Text(const std::vector<Line>& lines, const std::string& prefix) {
  std::string text = "HloModule m\nENTRY e {\n", shapes, names;
  for (size_t i = 0; i < lines.size(); ++i) {
    text += "  " + prefix + std::to_string(i) + " = f32[4] " + lines[i].opcode + "(";
    if (lines[i].operands.empty()) text += std::to_string(i);
    for (size_t k = 0; k < lines[i].operands.size(); ++k)
      text += (k > 0 ? ", " : "") + prefix + std::to_string(lines[i].operands[k]);
    text += ")\n";
    shapes += (i > 0 ? ", f32[4]" : "f32[4]");
    names += (i > 0 ? ", " : "") + prefix + std::to_string(i);
  }
  return text + "  ROOT r = (" + shapes + ") tuple(" + names + ")\n}\n";
}

/// Every instruction of both modules is in exactly one entry, and the counts are those of the entries.
void ExpectComplete(const ModuleDiff& diff) {
  llvm::DenseSet<const Instruction*> seen;
  int64_t counts[kDiffKindCount] = {};
  for (const DiffEntry& entry : diff.entries) {
    ++counts[static_cast<int>(entry.kind)];
    EXPECT_TRUE(entry.left || entry.right);
    if (entry.left) EXPECT_TRUE(seen.insert(entry.left).second) << entry.left->name().str();
    if (entry.right) EXPECT_TRUE(seen.insert(entry.right).second) << entry.right->name().str();
    EXPECT_EQ(entry.kind == DiffKind::Changed, !entry.changes.empty());
    if (entry.kind == DiffKind::Removed) EXPECT_EQ(entry.right, nullptr);
    if (entry.kind == DiffKind::Added) EXPECT_EQ(entry.left, nullptr);
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()),
            diff.left->InstructionCount() + diff.right->InstructionCount());
  for (int kind = 0; kind < kDiffKindCount; ++kind) EXPECT_EQ(counts[kind], diff.counts[kind]);
}

TEST(Compare, RenamedAndReorderedModulesAreEqual) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const std::vector<Line> lines = RandomLines(rng);
    const auto left = Parse(Text(lines, "a"));
    // Commuting operands is no difference either.
    std::vector<Line> commuted = lines;
    for (Line& line : commuted)
      if (line.operands.size() == 2 && llvm::StringRef(line.opcode) != "subtract" && rng() % 2 == 0)
        std::swap(line.operands[0], line.operands[1]);
    const auto right = Parse(Text(commuted, "b"));
    const ModuleDiff diff = CompareModules(*left, *right);
    ExpectComplete(diff);
    EXPECT_TRUE(diff.Equal()) << ToString(*left) << ToString(*right);
  }
}

TEST(Compare, RandomEditsAreNeverOverlooked) {
  Rng rng(2);
  for (int round = 0; round < 400; ++round) {
    std::vector<Line> lines = RandomLines(rng);
    const auto left = Parse(Text(lines, "a"));
    Line& line = lines[2 + rng() % (lines.size() - 2)];
    const auto place = static_cast<int>(&line - lines.data());
    const bool in_place = rng() % 2 == 0;
    if (in_place) {
      const std::string old = line.opcode;
      while (line.opcode == old)
        line.opcode = line.operands.size() == 1 ? kUnary[rng() % 4] : kBinary[rng() % 4];
    } else {
      line = RandomLine(rng, place);
    }
    const auto right = Parse(Text(lines, "b"));
    const ModuleDiff diff = CompareModules(*left, *right);
    ExpectComplete(diff);
    // The fingerprint is blind to names and order, but not to commuted operands.
    DiffOptions strict;
    strict.strict_order = true;
    EXPECT_EQ(CompareModules(*left, *right, strict).Equal(), Fingerprint(*left) == Fingerprint(*right))
        << ToString(*left) << ToString(*right);
    const int64_t seen = static_cast<int64_t>(diff.entries.size()) - diff.Count(DiffKind::Unchanged);
    // Another opcode with the same operands and users is one change.
    if (in_place) EXPECT_EQ(seen, 1) << ToString(*left) << ToString(*right);
  }
}

TEST(Compare, UnrelatedModulesAreToldCompletely) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    const auto left = Parse(Text(RandomLines(rng), "a")), right = Parse(Text(RandomLines(rng), "b"));
    ExpectComplete(CompareModules(*left, *right));
    DiffOptions hasty;
    hasty.max_effort = 0;
    const ModuleDiff diff = CompareModules(*left, *right, hasty);
    ExpectComplete(diff);
    if (diff.Equal()) EXPECT_EQ(Fingerprint(*left), Fingerprint(*right));
  }
}

}  // namespace
}  // namespace hlo
