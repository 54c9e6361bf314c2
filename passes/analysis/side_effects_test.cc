// What is remembered of computations holds after edits.
#include "passes/analysis/side_effects.h"

#include "gtest/gtest.h"
#include "parser/parser.h"

namespace hlo {
namespace {

/// `c0` is called by `c1`, and that by the entry.
constexpr llvm::StringLiteral kNested = R"(HloModule m, num_partitions=2
c0 { a = f32[] parameter(0)  b = f32[] custom-call(a), custom_call_target="f"  ROOT s = f32[] negate(b) }
c1 { a = f32[] parameter(0)  ROOT s = f32[] call(a), to_apply=c0 }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0)  ROOT p = pred[] compare(a, a), direction=LT }
ENTRY e { x = f32[] parameter(0)  ROOT r = f32[] call(x), to_apply=c1 }
)";

TEST(SideEffects, OfWhatIsCalledAreFoundAfterEdits) {
  const ParseResult parsed = ParseModule(kNested);
  ASSERT_TRUE(parsed.module);
  Module& module = *parsed.module;
  const Instruction& call = *module.entry()->root();
  Computation* inner = module.FindComputation("c0");
  EXPECT_FALSE(HasSideEffect(call));
  EXPECT_FALSE(HasSideEffect(*module.FindComputation("c1")->root()));

  Instruction* custom = inner->root()->operand(0);
  custom->mutable_attrs().Mutable<CustomCallAttrs>().custom_call_has_side_effect = true;
  EXPECT_TRUE(HasSideEffect(call));
  custom->mutable_attrs().Mutable<CustomCallAttrs>().custom_call_has_side_effect = false;
  EXPECT_FALSE(HasSideEffect(call));

  AllReduceAttrs reduce;
  reduce.channel_id = 1;
  Instruction* added =
      inner->Add(OpKind::AllReduce, custom->shape(), "r", {custom}, reduce, {module.FindComputation("add")});
  EXPECT_FALSE(HasSideEffect(call));  // the program is partitioned
  module.config.num_partitions = 1;
  EXPECT_TRUE(HasSideEffect(call));
  inner->Remove(added);
  EXPECT_FALSE(HasSideEffect(call));
}

TEST(SideEffects, TransfersAndLoopsAreFoundAfterEdits) {
  const ParseResult parsed = ParseModule(kNested);
  ASSERT_TRUE(parsed.module);
  Module& module = *parsed.module;
  const Instruction& call = *module.entry()->root();
  Computation* inner = module.FindComputation("c0");
  EXPECT_FALSE(MayNotEnd(call));
  EXPECT_FALSE(HasTransfers(*module.entry()));

  Instruction* root = inner->root();
  Instruction* loop = inner->Add(OpKind::While, root->shape(), "w", {root}, {},
                                 {module.FindComputation("add"), module.FindComputation("less")});
  EXPECT_TRUE(MayNotEnd(call));
  inner->Remove(loop);
  EXPECT_FALSE(MayNotEnd(call));

  Instruction* token = inner->Add(OpKind::AfterAll, Shape::MakeToken(), "t", {});
  Instruction* send = inner->Add(OpKind::Send, Shape::MakeTuple({root->shape(), token->shape()}), "s",
                                 {root, token}, SendRecvAttrs{});
  EXPECT_TRUE(HasTransfers(*module.entry()));
  inner->Remove(send);
  EXPECT_FALSE(HasTransfers(*module.entry()));
}

}  // namespace
}  // namespace hlo
