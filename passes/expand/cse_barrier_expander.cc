// cse_barrier_expander: removes optimization barriers, once nothing more is to be kept apart (passes.md
// §2.3).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: an opt-barrier becomes its operand; one with control edges becomes a copy, which keeps them.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

Result<bool> RunCseBarrierExpander(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    const std::vector<Instruction*> barriers = c->InstructionsOf(OpKind::OptimizationBarrier);
    for (Instruction* barrier : barriers) {
      const bool ordered = HasControlEdges(*barrier);
      if (ordered && !barrier->shape().IsArray()) continue;
      if (!context.TakeRewrite()) break;
      if (ordered)
        ReplaceWith(barrier, Maker(barrier).Copy(barrier->operand(0)));
      else
        barrier->ReplaceAllUsesWith(barrier->operand(0));
      c->Remove(barrier);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(CseBarrierExpander, NoPassOptions);

}  // namespace hlo
