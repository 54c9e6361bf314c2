// custom-call-layouts: what a custom call gets lies in memory as the layouts of its operands say when the
// module comes in: that is written down at the call, whatever becomes of the operands.
//
// Requires nothing. Preserves everything.
#include "ir/attrs.h"
#include "passes/pass.h"

namespace hlo::compile {
namespace {

Result<bool> RunCustomCallLayouts(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (const auto& computation : module.computations())
    for (Instruction* call : computation->InstructionsOf(OpKind::CustomCall)) {
      if (call->attr<CustomCallAttrs>().operand_layout_constraints) continue;
      if (!context.TakeRewrite()) return changed;
      auto& constraints = call->mutable_attrs().Mutable<CustomCallAttrs>().operand_layout_constraints;
      constraints.emplace();
      for (const Instruction* operand : call->operands())
        constraints->push_back(operand->shape().WithDefaultLayouts());
      changed = true;
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(CustomCallLayouts, NoPassOptions);

}  // namespace hlo::compile
