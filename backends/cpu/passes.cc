#include "backends/cpu/passes.h"

#include "backends/compile/passes.h"
#include "backends/cpu/compile.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/product_step.h"
#include "passes/pass_row.h"
#include "passes/pipeline.h"

namespace hlo::cpu {

#define HLO_PASS HLO_DECLARE_PASS
#include "backends/cpu/passes.def"
#undef HLO_PASS

namespace {

constexpr PassInfo kPasses[] = {
#define HLO_PASS HLO_PASS_INFO
#include "backends/cpu/passes.def"
#undef HLO_PASS
};
constexpr PipelineInfo kPipelines[] = {
#define HLO_PIPELINE(name, summary, spec) {name, summary, spec},
#include "backends/cpu/pipelines.def"
#undef HLO_PIPELINE
};
/// Programs that hold this backend know its passes, and those that it shares, from their start.
struct Registration : PassRegistration {
  Registration() : PassRegistration(kPasses, kPipelines) { compile::RegisterPasses(); }
};
const Registration kRegistration;

}  // namespace

std::string PipelineFor(int optimization_level, CodeHost host) {
  constexpr const char* kNames[] = {"@cpu-O", "@cpu-O", "@cpu-aot-O"};  // by CodeHost
  return kNames[static_cast<size_t>(host)] + std::to_string(optimization_level);
}

gemm::Target TargetOf(const PassContext& context) {
  const auto machine = MachineFor(context.controls().cpu, context.controls().features, /*runs_here=*/false);
  return machine ? ProductTarget(*machine) : gemm::Target();
}

bool IsPlainConvolution(const Instruction& inst) {
  return inst.kind() == OpKind::Convolution && inst.operand_count() == 2 &&
         llvm::all_of(inst.operands(), [](const Instruction* operand) {
           return operand->shape().IsArray() && !operand->shape().HasDynamicDimension();
         });
}

}  // namespace hlo::cpu
