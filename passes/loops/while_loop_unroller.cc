// while_loop_unroller: writes out all iterations of short loops (passes.md §4.5).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: a loop whose trip count is known, small and follows from its induction variable becomes copies of
// its body, the variable a constant in each. Left alone: loops beyond the limits below, with sends or
// receives, with control edges, or whose condition has side effects.
#include "passes/analysis/reachable.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/loop_unroll.h"

namespace hlo {
namespace {

struct WhileLoopUnrollerOptions {
  int64_t max_trip_count = 64;
  int64_t max_body_instructions = 800;
  int64_t max_instructions = 10000;
  bool only_elementwise = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&WhileLoopUnrollerOptions::max_trip_count>("max_trip_count", "iterations of a loop"),
    PassOption<&WhileLoopUnrollerOptions::max_body_instructions>("max_body_instructions",
                                                                 "instructions of its body"),
    PassOption<&WhileLoopUnrollerOptions::max_instructions>("max_instructions",
                                                            "instructions of all copies together"),
    PassOption<&WhileLoopUnrollerOptions::only_elementwise>("only_elementwise",
                                                            "loops that compute arrays element by element"),
};

/// What becomes one with arithmetic on elements, before and after it.
constexpr OpKind kNamesElements[] = {
    OpKind::Parameter,    OpKind::Constant,    OpKind::Tuple,     OpKind::GetTupleElement,
    OpKind::Iota,         OpKind::Broadcast,   OpKind::Reshape,   OpKind::Slice,
    OpKind::DynamicSlice, OpKind::Concatenate, OpKind::Transpose,
};

/// Elements of an array that an iteration makes from which on writing the loop out is worth it: scalars stay
/// in registers from one iteration to the next, and their loops are shorter code.
constexpr int64_t kMinElements = 64;

bool IsElementwise(const Computation& computation) {
  const auto is_new_array = [](const Instruction* part) {
    while (part->kind() == OpKind::GetTupleElement && part->operand(0)->kind() == OpKind::Tuple)
      part = part->operand(0)->operand(part->attr<GetTupleElementAttrs>().index);
    return part->kind() != OpKind::GetTupleElement && part->shape().IsArray() &&
           part->shape().ElementCount() >= kMinElements;
  };
  if (llvm::none_of(computation.root()->operands(), is_new_array)) return false;
  return !AnyInstruction(computation, [](const Instruction& inst) {
    return HasControlEdges(inst) ||
           (!inst.info().Is(kElementwise) && !llvm::is_contained(kNamesElements, inst.kind()));
  });
}

/// The loop's count if it is to be unrolled.
std::optional<LoopCount> UnrollCount(const TupleLoop& loop, const WhileLoopUnrollerOptions& options) {
  const int64_t size = loop.body->instruction_count();
  if (size > options.max_body_instructions || HasControlEdges(*loop.loop) ||
      loop.body_root->shape() != loop.loop->shape())
    return std::nullopt;
  for (const Instruction* inst : loop.condition->instructions())
    if (HasSideEffect(*inst)) return std::nullopt;
  if (HasTransfers(*loop.body) || (options.only_elementwise && !IsElementwise(*loop.body)))
    return std::nullopt;
  const auto counted = CountTrips(loop, /*max_evaluated=*/0);
  if (!counted || !counted->init || counted->count > options.max_trip_count ||
      counted->count * size > options.max_instructions)
    return std::nullopt;
  return counted;
}

llvm::ArrayRef<PassOptionRow> WhileLoopUnrollerOptions::Rows() { return kRows; }

Result<bool> RunWhileLoopUnroller(Module& module, const WhileLoopUnrollerOptions& options,
                                  PassContext& context) {
  HLO_TRY(const bool changed, ForEachLoop(module, context, [&](Instruction* inst) {
            const auto loop = AsTupleLoop(*inst);
            const auto counted = loop ? UnrollCount(*loop, options) : std::nullopt;
            if (!counted || !context.TakeRewrite()) return false;
            UnrollLoop(*loop, *counted);
            return true;
          }));
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(WhileLoopUnroller, WhileLoopUnrollerOptions);

}  // namespace hlo
