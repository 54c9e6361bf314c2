// reshape-to-bitcast: reshapes of row-major arrays change nothing in memory: they become bitcasts, which cost
// nothing.
//
// Requires row-major. Preserves flat-calls, fusions, row-major. Not those within kernels, whose loops know
// reshapes, nor of arrays of dynamic size.
#include "ir/op.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::compile {
namespace {

Result<bool> RunReshapeToBitcast(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* computation : context.Computations(module))
    for (Instruction* reshape : computation->InstructionsOf(OpKind::Reshape)) {
      const Shape& from = reshape->operand(0)->shape();
      // Results of custom calls keep layouts, which bitcasts would follow.
      if (reshape->shape().HasDynamicDimension() || from.HasDynamicDimension() || !IsRowMajor(from)) continue;
      if (!context.TakeRewrite()) return changed;
      ReplaceAndRemove(reshape, Maker(reshape).Bitcast(reshape->operand(0), reshape->shape()));
      changed = true;
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ReshapeToBitcast, NoPassOptions);

}  // namespace hlo::compile
