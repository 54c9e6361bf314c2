#include "passes/control_dep_remover.h"

namespace hlo {

Result<bool> RunControlDepRemover(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  bool changed = false;
  for (Computation* computation : context.AllComputations(module)) {
    for (Instruction* inst : computation->instructions()) {
      if (inst->extras().control_predecessors.empty() && inst->extras().control_successors.empty()) continue;
      if (!context.TakeRewrite()) return changed;
      inst->DropControlEdges();
      changed = true;
    }
  }
  return changed;
}

HLO_DEFINE_PASS(ControlDepRemover, NoPassOptions);

}  // namespace hlo
