// control-dependency-remover: no edges that are no operands: what code alone computes has no effects that
// they could order.
//
// Requires nothing. Preserves everything but the schedule.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"

namespace hlo::compile {
namespace {

Result<bool> RunControlDependencyRemover(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.PostOrder())
    for (Instruction* inst : computation->instructions()) {
      if (!HasControlEdges(*inst)) continue;
      if (!context.TakeRewrite()) return changed;
      inst->DropControlEdges();
      changed = true;
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ControlDependencyRemover, NoPassOptions);

}  // namespace hlo::compile
