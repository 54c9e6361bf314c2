#include "passes/fusion/defuser.h"

#include "passes/analysis/inlined_size.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/inline_all.h"

namespace hlo {

Result<bool> RunDefuser(Module& module, const NoPassOptions&, PassContext& context) {
  const auto is_inlined = [&](const Instruction& inst) {
    return inst.kind() == OpKind::Fusion && context.Allows(*inst.parent());
  };
  HLO_CHECK_OK(CheckInlinedSize(module, is_inlined, module.entry() ? module.entry()->loc() : Loc()));
  bool changed = false;
  InlineAll(
      module, is_inlined, [&](Computation&, Instruction*) { changed = true; },
      [&] { return context.TakeRewrite(); });
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

HLO_DEFINE_PASS(Defuser, NoPassOptions);

}  // namespace hlo
