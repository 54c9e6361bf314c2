// ConvolutionTypeCanonicalizer: products of floats with integer results are taken in floats (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: dots and convolutions of floats that yield integers yield f32 (f64 for f64 operands), which is
// then converted. This defines what such products mean: fractions of operands count. Left alone: all others.
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool TakesFloatsToIntegers(const Instruction& inst) {
  return (inst.kind() == OpKind::Dot || inst.kind() == OpKind::Convolution) &&
         IsIntegral(inst.shape().element_type()) && IsFloat(inst.operand(0)->shape().element_type()) &&
         IsFloat(inst.operand(1)->shape().element_type());
}

Result<bool> RunConvolutionTypeCanonicalizer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return TakesFloatsToIntegers(inst); },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        const bool wide = inst->operand(0)->shape().element_type() == ElementType::F64 ||
                          inst->operand(1)->shape().element_type() == ElementType::F64;
        const ElementType type = wide ? ElementType::F64 : ElementType::F32;
        Instruction* sum = RemakeWith(make, *inst, inst->shape().WithElementType(type), inst->operands());
        return make.Convert(sum, inst->shape().element_type());
      });
}

}  // namespace

HLO_DEFINE_PASS(ConvolutionTypeCanonicalizer, NoPassOptions);

}  // namespace hlo
