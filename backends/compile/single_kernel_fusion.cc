// single-kernel-fusion: makes a kernel of every instruction that kernels have loops for and kernel-fusion
// left because there are better ways: products of any size, long windows.
//
// Requires row-major. Preserves flat-calls, fusions, row-major. For code that calls nothing.
#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_ops.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass.h"

namespace hlo::compile {
namespace {

Result<bool> RunSingleKernelFusion(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* computation : context.Computations(module)) {
    if (!RunsOnWholeValues(*computation)) continue;
    for (Instruction* inst : computation->PostOrder()) {
      if (!HasLoops(*inst) || IterationShape(*inst).ElementCount() == 0) continue;
      if (!context.TakeRewrite()) return changed;
      SinkConstants(WrapInKernel(inst));
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SingleKernelFusion, NoPassOptions);

}  // namespace hlo::compile
