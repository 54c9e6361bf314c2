// fusion_constant_sinking: scalar constants that fusions get as operands move into them (passes.md §2.2).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: an operand of a fusion that is a scalar constant becomes a constant in its body, nested fusions
// included; the operand goes. Left alone: the last operand of a fusion, bodies that others call, fusions that
// declare aliases of operands, elided constants.
#include "llvm/ADT/SetVector.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

bool IsScalarConstant(const Instruction& inst) {
  return inst.kind() == OpKind::Constant && inst.shape().IsScalar() && inst.attr<ConstantAttrs>().literal;
}

/// With the parameters that they gave, which nothing reads any more.
void DropOperands(Instruction* fusion, const std::vector<bool>& sunk) {
  fusion->callee()->RemoveParameters(
      [&](const Instruction& p) { return sunk[static_cast<size_t>(p.attr<ParameterAttrs>().number)]; });
  llvm::SmallVector<Instruction*, 8> operands;
  llvm::SmallSetVector<Instruction*, 8> constants;
  for (size_t i = 0; i < sunk.size(); ++i) {
    Instruction* operand = fusion->operand(static_cast<int64_t>(i));
    if (sunk[i])
      constants.insert(operand);
    else
      operands.push_back(operand);
  }
  fusion->SetOperands(operands);
  for (Instruction* constant : constants) RemoveIfDead(constant);
}

bool SinkInto(Instruction* fusion, PassContext& context) {
  Computation& body = *fusion->callee();
  if (body.callers().size() != 1 || !fusion->attr<FusionAttrs>().output_to_operand_aliasing.empty())
    return false;
  std::vector<bool> sunk(static_cast<size_t>(fusion->operand_count()));
  int64_t left = fusion->operand_count();
  for (int64_t i = left - 1; i >= 0 && left > 1; --i) {  // one operand stays
    const Instruction& constant = *fusion->operand(i);
    Instruction* parameter = body.parameter(i);
    if (!IsScalarConstant(constant) || constant.shape() != parameter->shape() || parameter->IsRoot() ||
        !context.TakeRewrite())
      continue;
    parameter->ReplaceAllUsesWith(CloneWith(constant, body, {}));
    sunk[static_cast<size_t>(i)] = true;
    --left;
  }
  if (left == fusion->operand_count()) return false;
  DropOperands(fusion, sunk);
  return true;
}

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

}  // namespace

HLO_DEFINE_PASS(FusionConstantSinking, NoPassOptions);

}  // namespace hlo
