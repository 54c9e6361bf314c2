#include "tools/testing/execution.h"

#include <set>

#include "gtest/gtest.h"
#include "parser/parser.h"
#include "passes/rewrite/rule.h"
#include "tools/testing/retype.h"
#include "tools/testing/value_sets.h"

namespace hlo::testing {
namespace {

Literal Parsed(llvm::StringRef text) {
  auto literal = ParseLiteralWithShape(text);
  EXPECT_TRUE(literal) << text.str();
  return *literal;
}

/// Differences beyond the licence, of all.
std::pair<int64_t, int64_t> Differing(llvm::StringRef a, llvm::StringRef b, uint8_t changes,
                                      bool bounded = true) {
  Differences d;
  Compare(Parsed(a), Parsed(b), changes, bounded, /*floats=*/true, d);
  return {d.beyond, d.mismatches};
}

using Counts = std::pair<int64_t, int64_t>;

TEST(Execution, ComparesAsLicencesSay) {
  EXPECT_EQ(Differing("f32[2] {1, nan}", "f32[2] {1, nan}", 0), Counts(0, 0));
  EXPECT_EQ(Differing("f32[2] {1, 0}", "f32[2] {1, -0.0}", 0), Counts(1, 1));
  EXPECT_EQ(Differing("f32[2] {1, 0}", "f32[2] {1, -0.0}", kSignedZero), Counts(0, 1));
  EXPECT_EQ(Differing("f32[2] {1, nan}", "f32[2] {1, 0}", kSignedZero | kRounding), Counts(1, 1));
  EXPECT_EQ(Differing("f32[2] {1, nan}", "f32[2] {1, 0}", kNan), Counts(0, 1));
  EXPECT_EQ(Differing("f32[] 1", "f32[] 1.0000001", kRounding), Counts(0, 1));
  EXPECT_EQ(Differing("f32[] 1", "f32[] 1.5", kRounding), Counts(1, 1));
  EXPECT_EQ(Differing("f32[] 1", "f32[] 1.5", kRounding, /*bounded=*/false), Counts(0, 1));
  EXPECT_EQ(Differing("f32[] inf", "f32[] 3", kRounding), Counts(1, 1));
  EXPECT_EQ(Differing("f32[] inf", "f32[] 3", kRange), Counts(0, 1));
  EXPECT_EQ(Differing("(s4[2] {1, -8}, pred[] true)", "(s4[2] {1, 7}, pred[] true)", 0), Counts(1, 1));
}

TEST(Execution, RetypesModules) {
  const ParseResult parsed = ParseModule(
      "ENTRY e {\n x = f32[2,2] parameter(0)\n c = f32[] constant(300)\n"
      " b = f32[2,2] broadcast(c), dimensions={}\n ROOT r = f32[2,2] add(x, b)\n}");
  ASSERT_TRUE(parsed.module);
  EXPECT_EQ(MainType(*parsed.module), ElementType::F32);
  const auto narrow = Retyped(*parsed.module, ElementType::F32, ElementType::S8, 100);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(ToString(narrow->entry()->root()->shape(), false), "s8[100]");
  const auto arguments =
      std::vector<std::vector<Literal>>{{Literal::Zeros(narrow->entry()->parameter(0)->shape())}};
  const auto result = Execute(*narrow, arguments);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->results[0].Bits(99) & 0xff, 127U);  // 300 saturates
  const ParseResult compare =
      ParseModule("ENTRY e {\n x = f32[2] parameter(0)\n ROOT r = f32[2] exponential(x)\n}");
  ASSERT_TRUE(compare.module);
  EXPECT_FALSE(Retyped(*compare.module, ElementType::F32, ElementType::S8));
}

TEST(Execution, CombinationsAreComplete) {
  const Combinations plan = PlanCombinations({ElementType::S4, ElementType::Pred}, 1 << 16, 100);
  EXPECT_TRUE(plan.exhaustive);
  EXPECT_EQ(plan.length, 32);
  const std::vector<Literal> arrays =
      MakeCombinations({Shape::ArrayWithDefaultLayout(ElementType::S4, {32}),
                        Shape::ArrayWithDefaultLayout(ElementType::Pred, {32})},
                       plan, 0);
  std::set<std::pair<uint64_t, uint64_t>> seen;
  for (int64_t i = 0; i < 32; ++i) seen.insert({arrays[0].Bits(i) & 15, arrays[1].Bits(i)});
  EXPECT_EQ(seen.size(), 32U);
  EXPECT_FALSE(PlanCombinations({ElementType::F32}, 1 << 16, 5000).exhaustive);
}

TEST(Execution, ExcusesWhatCannotRun) {
  auto run = ParsePassRun({"--passes=dce"});
  ASSERT_TRUE(run) << run.error().message;
  constexpr llvm::StringLiteral kText = "ENTRY e {\n x = f32[2] parameter(0)\n ROOT r = f32[2] abs(x)\n}";
  EXPECT_EQ(CheckExecution(kText, *run, false), "");
  constexpr llvm::StringLiteral kInfeed =
      "ENTRY e {\n t = token[] after-all()\n i = (f32[], token[]) infeed(t)\n"
      " ROOT r = f32[] get-tuple-element(i), index=0\n}";
  EXPECT_NE(CheckExecution(kInfeed, *run, false).find("NOEXEC"), std::string::npos);
}

}  // namespace
}  // namespace hlo::testing
