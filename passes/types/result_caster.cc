// result_caster: products with narrower results are taken in the type of their operands (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: dot, ragged-dot and convolution whose result type holds less than that of the operands yield the
// type of the operands, and the result is converted. Integers stay what they were; sums of floats are rounded
// once, instead of the operands before, also where the result is integers: fractions of operands count, as on
// XLA's CPU (ops-structured-and-control.md §3). Left alone: those under --strict-fp.
#include "passes/analysis/conversions.h"
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// The type of the operands of a product whose result is to be converted; the result's type: leave it.
ElementType SumTypeOf(const Instruction& inst, bool strict_fp) {
  const ElementType result = inst.shape().IsArray() ? inst.shape().element_type() : ElementType::Pred;
  if (inst.kind() != OpKind::Dot && inst.kind() != OpKind::RaggedDot && inst.kind() != OpKind::Convolution)
    return result;
  const ElementType operands =
      HigherPrecision(inst.operand(0)->shape().element_type(), inst.operand(1)->shape().element_type());
  const bool floats = IsFloat(operands) && IsFloat(result) && IsLosslessConversion(result, operands);
  const bool integers = IsIntegral(operands) && IsIntegral(result) && Info(operands).bits > Info(result).bits;
  const bool cut = IsFloat(operands) && IsIntegral(result);
  return integers || (!strict_fp && (floats || cut)) ? operands : result;
}

Result<bool> RunResultCaster(Module& module, const NoPassOptions&, PassContext& context) {
  const bool strict_fp = context.policy().strict_fp;
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) {
        return inst.shape().IsArray() && SumTypeOf(inst, strict_fp) != inst.shape().element_type();
      },
      [&](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        const Shape sum = inst->shape().WithElementType(SumTypeOf(*inst, strict_fp));
        Instruction* wide = RemakeWith(make, *inst, sum, inst->operands());
        return make.Convert(wide, inst->shape().element_type());
      });
}

}  // namespace

HLO_DEFINE_PASS(ResultCaster, NoPassOptions);

}  // namespace hlo
