// fusion-wrapper: instructions that could be fused stand alone no more, each becomes a fusion of one
// (passes.md §2.5), so that code generators see fusions only.
//
// Requires nothing. Preserves everything but the schedule. Useful after fusion.
// Changes: elementwise ops, data movement, reductions, windows and scatters of static arrays outside of
// fusions and outside of computations that are applied element by element. Left alone: parameters, constants,
// tuples and their elements, bitcasts, concatenations, transposes, dynamic updates, side effects, and
// everything with control edges.
#include "passes/analysis/fusion_facts.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/fuse.h"

namespace hlo {
namespace {

/// What has a loop of its own, though fusion leaves it alone.
constexpr OpKind kOwnLoops[] = {OpKind::Copy, OpKind::Map, OpKind::Reduce, OpKind::ReduceWindow,
                                OpKind::Scatter};

/// What moves whole rows, for which code generators have something better than a loop.
constexpr OpKind kMovers[] = {OpKind::Bitcast, OpKind::Concatenate, OpKind::DynamicUpdateSlice,
                              OpKind::Transpose};

bool HasLoop(const Instruction& inst) {
  if (llvm::is_contained(kOwnLoops, inst.kind()))
    return HasStaticShapes(inst) && (inst.shape().IsArray() || inst.kind() != OpKind::Copy);
  return IsLoopFusible(inst) && !llvm::is_contained(kMovers, inst.kind());
}

bool MustBeWrapped(const Instruction& inst) {
  return HasLoop(inst) && !HasSideEffect(inst) && !HasControlEdges(inst);
}

Result<bool> RunFusionWrapper(Module& module, const NoPassOptions&, PassContext& context) {
  std::vector<Instruction*> found;
  for (Computation* c : context.Computations(module)) {
    // The body of an asynchronous operation is that one operation.
    const bool is_async = llvm::any_of(
        c->callers(), [](const Instruction* caller) { return caller->kind() == OpKind::AsyncStart; });
    const bool runs = c->IsEntry() || !c->callers().empty();
    if (!runs || !RunsOnWholeValues(*c) || is_async) continue;
    HLO_CHECK_OK(context.CheckInterrupt());
    for (Instruction* inst : c->instructions())
      if (MustBeWrapped(*inst)) found.push_back(inst);
  }
  bool changed = false;
  for (Instruction* inst : found) {
    if (!context.TakeRewrite()) break;
    WrapInFusion(inst, FusionKind::Loop);
    changed = true;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(FusionWrapper, NoPassOptions);

}  // namespace hlo
