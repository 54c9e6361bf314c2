#include "passes/cse_barrier_expander.h"

#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {

Result<bool> RunCseBarrierExpander(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    const std::vector<Instruction*> barriers = c->InstructionsOf(OpKind::OptimizationBarrier);
    for (Instruction* barrier : barriers) {
      const InstructionExtras& extras = barrier->extras();
      const bool ordered = !extras.control_predecessors.empty() || !extras.control_successors.empty();
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

HLO_DEFINE_PASS(CseBarrierExpander, NoPassOptions);

}  // namespace hlo
