// No edges that are no operands: what code alone computes has no effects that they could order.
#include "passes/pass.h"

namespace hlo::cpu {
namespace {

Result<bool> RunControlDependencyRemover(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.PostOrder())
    for (Instruction* inst : computation->instructions()) {
      if (!inst->has_extras() ||
          (inst->extras().control_predecessors.empty() && inst->extras().control_successors.empty()))
        continue;
      if (!context.TakeRewrite()) return changed;
      inst->DropControlEdges();
      changed = true;
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ControlDependencyRemover, NoPassOptions);

}  // namespace hlo::cpu
