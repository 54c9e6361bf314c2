// fusion-inliner: fusions of other compilers become the instructions that they fuse: this one groups anew.
//
// Requires nothing. Preserves nothing. Kernels of its own stay.
#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_plans.h"
#include "passes/analysis/inlined_size.h"
#include "passes/pass.h"
#include "passes/rewrite/inline_all.h"

namespace hlo::compile {
namespace {

Result<bool> RunFusionInliner(Module& module, const NoPassOptions&, PassContext& context) {
  const auto is_inlined = [](const Instruction& inst) {
    return inst.kind() == OpKind::Fusion && !IsKernel(inst);
  };
  HLO_CHECK_OK(CheckKernels(module, MachineOf(context)));
  HLO_CHECK_OK(CheckInlinedSize(module, is_inlined, module.entry()->loc()));
  InlineAll(module, is_inlined, nullptr, [&] { return context.TakeRewrite(); });
  return context.rewrites() > 0;
}

}  // namespace

HLO_DEFINE_PASS(FusionInliner, NoPassOptions);

}  // namespace hlo::compile
