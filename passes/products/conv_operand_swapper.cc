// conv-operand-swapper: kernels larger than what they go over become what is gone over (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a convolution whose windows are smaller if input and kernel change places gets them so: the kernel
// is reversed, labels and window follow. Left alone: groups, dynamic shapes, structured sparsity, backend
// configs.
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

Result<bool> RunConvOperandSwapper(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return IsPlainConvolution(inst) && inst.extras().backend_config.empty();
      },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        return ConvolutionWithSwappedOperands(make, *inst);
      });
}

}  // namespace

HLO_DEFINE_PASS(ConvOperandSwapper, NoPassOptions);

}  // namespace hlo
