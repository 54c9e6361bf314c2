#include "passes/fusion_constant_sinking.h"

#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

bool IsScalarConstant(const Instruction& inst) {
  return inst.kind() == OpKind::Constant && inst.shape().IsScalar() && inst.attr<ConstantAttrs>().literal;
}

bool SinkInto(Instruction* fusion, PassContext& context) {
  Computation& body = *fusion->callee();
  if (body.callers().size() != 1 || !fusion->attr<FusionAttrs>().output_to_operand_aliasing.empty())
    return false;
  bool changed = false;
  for (int64_t i = fusion->operand_count() - 1; i >= 0 && fusion->operand_count() > 1; --i) {
    Instruction* constant = fusion->operand(i);
    Instruction* parameter = body.parameter(i);
    if (!IsScalarConstant(*constant) || constant->shape() != parameter->shape() || parameter->IsRoot() ||
        !context.TakeRewrite())
      continue;
    parameter->DropControlEdges();
    parameter->ReplaceAllUsesWith(CloneWith(*constant, body, {}));
    body.RemoveParameter(i);
    llvm::SmallVector<Instruction*, 8> operands(fusion->operands().begin(), fusion->operands().end());
    operands.erase(operands.begin() + i);
    fusion->SetOperands(operands);
    RemoveIfDead(constant);
    changed = true;
  }
  return changed;
}

}  // namespace

Result<bool> RunFusionConstantSinking(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  // Outer fusions first: what they get may go on to inner ones.
  const std::vector<Computation*> computations = context.Computations(module, /*with_fusions=*/true);
  for (Computation* c : llvm::reverse(computations)) {
    const std::vector<Instruction*> fusions = c->InstructionsOf(OpKind::Fusion);
    for (Instruction* fusion : fusions) changed |= SinkInto(fusion, context);
  }
  return changed;
}

HLO_DEFINE_PASS(FusionConstantSinking, NoPassOptions);

}  // namespace hlo
