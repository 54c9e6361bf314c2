// control-dep-remover: drops all control edges (passes.md §2.1).
//
// Requires nothing. Preserves everything but copies. Copy-insertion takes some out relying on control edges.
// Changes: control-predecessors of every instruction of the allowed threads go; fusions too.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"

namespace hlo {
namespace {

Result<bool> RunControlDepRemover(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  bool changed = false;
  for (Computation* computation : context.AllComputations(module)) {
    for (Instruction* inst : computation->instructions()) {
      if (!HasControlEdges(*inst)) continue;
      if (!context.TakeRewrite()) return changed;
      inst->DropControlEdges();
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ControlDepRemover, NoPassOptions);

}  // namespace hlo
