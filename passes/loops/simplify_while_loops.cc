#include "passes/loops/simplify_while_loops.h"

#include "passes/analysis/frontend_attributes.h"
#include "passes/analysis/scalar_eval.h"
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

constexpr int kMaxRounds = 16;  // of all steps over one loop

constexpr PassOptionRow kRows[] = {
    PassOption<&SimplifyWhileLoopsOptions::simplify_compare_instrs>(
        "simplify_compare_instrs", "decide compares of the induction variable with constants"),
};

bool HasSideEffectInside(const Computation& computation) {
  return llvm::any_of(computation.instructions(), [](const Instruction* i) { return HasSideEffect(*i); });
}

/// Nobody asked for a loop of one iteration to stay.
bool MayInline(const Instruction& loop) {
  return FrontendValue(loop, "inlineable") != "false" &&
         FrontendValue(loop, "skip-simplify-while-loops_trip-count-one") != "true";
}

/// Loops of trip count 0 and 1 are no loops.
bool DissolveLoop(Instruction* inst, const TupleLoop& loop, PassContext& context) {
  const auto counted = CountTrips(loop, /*max_evaluated=*/1);
  const auto bound = counted ? std::optional(counted->count) : std::nullopt;
  if (!bound || *bound > 1 || HasSideEffectInside(*loop.condition) || HasTransfers(*loop.body)) return false;
  if (*bound == 0) {
    if (HasControlEdges(*inst) || loop.init()->shape() != inst->shape()) return false;
    if (!context.TakeRewrite({}, *inst, *loop.init())) return false;
    ReplaceWith(inst, loop.init());
    inst->parent()->Remove(inst);  // what its body would do never happens
    return true;
  }
  if (HasSideEffectInside(*loop.body) || loop.body_root->shape() != inst->shape() || !MayInline(*inst))
    return false;
  if (!context.TakeRewrite()) return false;
  const auto attributes = inst->extras().frontend_attributes;
  Instruction* result = InlineCall(inst);  // callee 0 is the body
  if (!attributes.empty() && result->kind() == OpKind::Tuple && result->extras().frontend_attributes.empty())
    result->MutableExtras().frontend_attributes = attributes;
  return true;
}

/// What a compare gives for all values from `first` to `last`; nothing if it varies.
std::optional<bool> Decide(Direction direction, int64_t first, int64_t last, int64_t bound) {
  const int64_t low = std::min(first, last), high = std::max(first, last);
  switch (direction) {
    case Direction::LT:
      return high < bound ? std::optional(true) : low >= bound ? std::optional(false) : std::nullopt;
    case Direction::LE:
      return high <= bound ? std::optional(true) : low > bound ? std::optional(false) : std::nullopt;
    case Direction::GT:
      return low > bound ? std::optional(true) : high <= bound ? std::optional(false) : std::nullopt;
    case Direction::GE:
      return low >= bound ? std::optional(true) : high < bound ? std::optional(false) : std::nullopt;
    case Direction::EQ:
      return bound < low || bound > high ? std::optional(false)
             : low == high               ? std::optional(true)
                                         : std::nullopt;
    case Direction::NE:
      return bound < low || bound > high ? std::optional(true)
             : low == high               ? std::optional(false)
                                         : std::nullopt;
  }
  llvm_unreachable("all directions are handled");
}

/// The result of a compare of the induction variable with a constant, if it is the same in all iterations.
std::optional<bool> DecidedCompare(const Instruction& compare, const TupleLoop& loop,
                                   const LoopCount& counted) {
  if (compare.kind() != OpKind::Compare || !compare.shape().IsScalar() || HasControlEdges(compare))
    return std::nullopt;
  const Instruction& read = *compare.operand(0);
  if (read.kind() != OpKind::GetTupleElement || read.operand(0) != loop.body_parameter ||
      read.attr<GetTupleElementAttrs>().index != counted.induction ||
      compare.operand(1)->kind() != OpKind::Constant || !compare.operand(1)->attr<ConstantAttrs>().literal ||
      Info(read.shape().element_type()).bits > 32)
    return std::nullopt;
  const auto bound =
      static_cast<int64_t>(LiteralValue(*compare.operand(1)->attr<ConstantAttrs>().literal, 0));
  const int64_t last = *counted.init + (counted.count - 1) * *counted.step;
  return Decide(compare.attr<CompareAttrs>().direction, *counted.init, last, bound);
}

bool DecideCompares(const TupleLoop& loop, PassContext& context) {
  const auto counted = CountTrips(loop);
  if (!counted || !counted->init || counted->count == 0) return false;
  bool changed = false;
  for (Instruction* compare : loop.body->InstructionsOf(OpKind::Compare)) {
    const auto value = DecidedCompare(*compare, loop, *counted);
    if (!value || !context.TakeRewrite()) continue;
    ReplaceWith(compare, Maker(compare).ScalarInt(ElementType::Pred, *value));
    loop.body->Remove(compare);
    changed = true;
  }
  return changed;
}

bool SimplifyElements(const TupleLoop& loop, const SimplifyWhileLoopsOptions& options, PassContext& context) {
  if (!MayReshapeLoop(loop)) return false;
  return MergeLoopElements(loop, context) || FlattenLoopState(loop, context) ||
         RemoveDeadLoopElements(loop, context) || RemoveConstantLoopElements(loop, context) ||
         (options.simplify_compare_instrs && DecideCompares(loop, context)) ||
         MergeInductionVariables(loop, context);
}

}  // namespace

llvm::ArrayRef<PassOptionRow> SimplifyWhileLoopsOptions::Rows() { return kRows; }

Result<bool> RunSimplifyWhileLoops(Module& module, const SimplifyWhileLoopsOptions& options,
                                   PassContext& context) {
  HLO_TRY(const bool changed, ForEachLoop(module, context, [&](Instruction* inst) {
            for (int round = 0; round < kMaxRounds; ++round) {
              const auto loop = AsTupleLoop(*inst);
              if (!loop) return round > 0;
              if (DissolveLoop(inst, *loop, context)) return true;
              if (!SimplifyElements(*loop, options, context)) return round > 0;
            }
            return true;
          }));
  if (changed) HLO_CHECK_OK(RemoveDeadCode(module, context));
  return changed;
}

HLO_DEFINE_PASS(SimplifyWhileLoops, SimplifyWhileLoopsOptions);

}  // namespace hlo
