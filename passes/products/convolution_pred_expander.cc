// convolution-pred-expander: convolutions of pred are taken in f16 (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: operands of convolutions that are all pred are converted to f16, and the result is what is not
// zero; sums that exceed f16 are infinite, thus not zero either. Left alone: other types.
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool IsPredConvolution(const Instruction& inst) {
  return inst.kind() == OpKind::Convolution && IsPred(inst.shape().element_type()) &&
         IsPred(inst.operand(0)->shape().element_type()) && IsPred(inst.operand(1)->shape().element_type());
}

Result<bool> RunConvolutionPredExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return IsPredConvolution(inst); },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        llvm::SmallVector<Instruction*, 2> operands;
        for (Instruction* o : inst->operands()) operands.push_back(make.Convert(o, ElementType::F16));
        Instruction* sum = RemakeWith(make, *inst, inst->shape().WithElementType(ElementType::F16), operands);
        return make.Compare(Direction::NE, sum, make.Full(sum->shape(), 0));
      });
}

}  // namespace

HLO_DEFINE_PASS(ConvolutionPredExpander, NoPassOptions);

}  // namespace hlo
