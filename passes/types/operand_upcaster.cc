// operand_upcaster: products with wider results get operands of that type (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: operands of dot, ragged-dot and convolution are converted to the type of the result where that
// type holds all their values. Left alone: other operands.
#include "passes/analysis/conversions.h"
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool IsProduct(const Instruction& inst) {
  return inst.kind() == OpKind::Dot || inst.kind() == OpKind::RaggedDot || inst.kind() == OpKind::Convolution;
}

bool IsWidened(const Instruction& product, int64_t side) {
  const ElementType from = product.operand(side)->shape().element_type(), to = product.shape().element_type();
  return from != to && IsLosslessConversion(from, to);
}

Result<bool> RunOperandUpcaster(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) { return IsProduct(inst) && (IsWidened(inst, 0) || IsWidened(inst, 1)); },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        llvm::SmallVector<Instruction*, 3> operands(inst->operands().begin(), inst->operands().end());
        for (const size_t side : {0, 1})
          if (IsWidened(*inst, static_cast<int64_t>(side)))
            operands[side] = make.Convert(operands[side], inst->shape().element_type());
        return RemakeWith(make, *inst, inst->shape(), operands);
      });
}

}  // namespace

HLO_DEFINE_PASS(OperandUpcaster, NoPassOptions);

}  // namespace hlo
