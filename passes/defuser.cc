#include "passes/defuser.h"

#include "passes/rewrite/edit.h"

namespace hlo {

Result<bool> RunDefuser(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  // Inner fusions first, so that every body is copied without them.
  for (Computation* c : context.Computations(module, /*with_fusions=*/true)) {
    const std::vector<Instruction*> fusions = c->InstructionsOf(OpKind::Fusion);
    for (Instruction* fusion : fusions) {
      if (!context.TakeRewrite()) break;
      InlineCall(fusion);
      changed = true;
    }
  }
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

HLO_DEFINE_PASS(Defuser, NoPassOptions);

}  // namespace hlo
