// The licence of the pass against those of its rules.
#include "gtest/gtest.h"
#include "passes/pass.h"
#include "passes/rules/rules.h"

namespace hlo {
namespace {

TEST(Algsimp, MayChangeWhatItsRulesMayChange) {
  int changes = 0;
  for (const RuleIndex::Entry& entry : AlgsimpRules().entries()) changes |= entry.rule->licence.changes;
  const PassInfo* pass = FindPass("algsimp");
  ASSERT_NE(pass, nullptr);
  EXPECT_EQ(pass->licence.changes, changes);
  EXPECT_TRUE(pass->licence.exact_if_strict());
}

TEST(Licence, ReadsAsItIsGiven) {
  EXPECT_EQ(ToString(Exact), "exact");
  EXPECT_EQ(ToString(Changes(kOrder | kNan)), "may change floats: NaN, order");
  EXPECT_EQ(ToString(FastMath(kSignedZero)), "needs fast math on floats: signed zero");
  EXPECT_EQ(ToString(Unprescribed("no order")),
            "may change floats: rounding; with --strict-fp, too: no order");
}

}  // namespace
}  // namespace hlo
