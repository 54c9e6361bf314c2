// operand_converter: operands of dots get one type (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: of two operands of a dot the narrower is converted to the type of the wider, where no value is
// lost. Left alone: types neither of which holds the other.
#include "passes/analysis/conversions.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

ElementType TypeOf(const Instruction& dot, int64_t side) { return dot.operand(side)->shape().element_type(); }

/// The side whose operand is to be converted to the type of the other; -1: none.
int64_t NarrowSide(const Instruction& inst) {
  if (inst.kind() != OpKind::Dot || TypeOf(inst, 0) == TypeOf(inst, 1)) return -1;
  if (IsLosslessConversion(TypeOf(inst, 0), TypeOf(inst, 1))) return 0;
  return IsLosslessConversion(TypeOf(inst, 1), TypeOf(inst, 0)) ? 1 : -1;
}

Result<bool> RunOperandConverter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return NarrowSide(inst) >= 0; },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        const int64_t side = NarrowSide(*inst);
        Instruction* operands[] = {inst->operand(0), inst->operand(1)};
        operands[side] = make.Convert(operands[side], TypeOf(*inst, 1 - side));
        return MakeDotLike(make, *inst, operands[0], operands[1], inst->attr<DotAttrs>());
      });
}

}  // namespace

HLO_DEFINE_PASS(OperandConverter, NoPassOptions);

}  // namespace hlo
