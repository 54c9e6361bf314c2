#include "passes/convert_operand_folding.h"

#include "passes/analysis/type_facts.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

bool AccumulatesInResultType(const Instruction& inst) {
  if (const auto* dot = inst.attrs().GetIf<DotAttrs>())
    return inst.kind() == OpKind::Dot && dot->algorithm == DotAlgorithm::Unset;
  if (const auto* convolution = inst.attrs().GetIf<ConvolutionAttrs>())
    return convolution->algorithm == DotAlgorithm::Unset && convolution->sparsity_config == SparsityConfig();
  return false;
}

/// The convert is of no account to an op whose result has type `result`.
bool MayFold(const Instruction& convert, ElementType result) {
  if (convert.kind() != OpKind::Convert) return false;
  const Instruction& source = *convert.operand(0);
  return source.shape().element_type() != convert.shape().element_type() &&
         source.shape().WithElementType(convert.shape().element_type()) == convert.shape() &&
         ConvertsExactly(source.shape().element_type(), convert.shape().element_type()) &&
         ConvertsExactly(convert.shape().element_type(), result);
}

}  // namespace

Result<bool> RunConvertOperandFolding(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    llvm::SmallVector<Instruction*, 8> candidates;
    for (Instruction* inst : c->instructions())
      if (AccumulatesInResultType(*inst)) candidates.push_back(inst);
    for (Instruction* inst : candidates)
      for (int64_t i = 0; i < inst->operand_count(); ++i) {
        Instruction* convert = inst->operand(i);
        if (!MayFold(*convert, inst->shape().element_type()) || !context.TakeRewrite()) continue;
        inst->SetOperand(i, convert->operand(0));
        if (convert->users().empty()) RemoveIfDead(convert);
        changed = true;
      }
  }
  return changed;
}

HLO_DEFINE_PASS(ConvertOperandFolding, NoPassOptions);

}  // namespace hlo
