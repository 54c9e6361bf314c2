#include "backends/gpu/compile/kernels.h"

#include "backends/compile/kernel_config.h"
#include "backends/gpu/codegen/ptx_module.h"
#include "passes/analysis/fusion_facts.h"

namespace hlo {
namespace {

/// What needs no kernel, and why.
struct WithoutKernel {
  OpKind kind;
  llvm::StringLiteral why;
};
constexpr llvm::StringLiteral kThere = "a value that is there", kPart = "a part of a tuple",
                              kFlow = "control flow, whose parts have kernels",
                              kNumber = "a number of the run";
constexpr WithoutKernel kWithoutKernel[] = {
    {OpKind::Parameter, kThere},
    {OpKind::Constant, kThere},
    {OpKind::Bitcast, kThere},
    {OpKind::AfterAll, kThere},
    {OpKind::OptimizationBarrier, kThere},
    {OpKind::Tuple, kPart},
    {OpKind::GetTupleElement, kPart},
    {OpKind::Copy, "bytes that are copied"},
    {OpKind::While, kFlow},
    {OpKind::Conditional, kFlow},
    {OpKind::Call, kFlow},
    {OpKind::PartitionId, kNumber},
    {OpKind::ReplicaId, kNumber},
};
bool NeedsNoKernel(OpKind kind) {
  return llvm::any_of(kWithoutKernel, [&](const WithoutKernel& row) { return row.kind == kind; });
}

class Collector {
 public:
  Collector(Module& module, const compile::Machine& machine)
      : module_(module), plans_(compile::KernelPlans::Of(module, machine)) {}

  Result<std::vector<GpuKernel>> Run() {
    for (const Computation* computation : module_.PostOrder()) {
      if (!RunsOnWholeValues(*computation)) continue;
      for (const Instruction* inst : computation->instructions()) HLO_CHECK_OK(Add(*inst));
    }
    return std::move(kernels_);
  }

 private:
  Status Add(const Instruction& inst) {
    if (NeedsNoKernel(inst.kind())) return {};
    if (!compile::IsKernel(inst))
      return Error("unsupported-op", inst.loc(), "%{0}: the GPU backend has no code for {1}", inst.name(),
                   inst.info().text);
    auto plan = plans_.Plan(inst);
    if (!plan && IsDeclined(plan.error())) return NoGpuKernel(inst, plan.error().message);
    HLO_CHECK_OK(plan);
    for (GpuKernel& kernel : kernels_)
      if (kernel.plan == *plan) {
        kernel.instructions.push_back(&inst);
        return {};
      }
    const std::string name = "k" + std::to_string(kernels_.size()) + "_" + inst.name().str();
    kernels_.push_back({std::move(*plan), gpu::SymbolFor(name), {&inst}});
    return {};
  }

  Module& module_;
  compile::KernelPlans& plans_;
  std::vector<GpuKernel> kernels_;
};

}  // namespace

tl::unexpected<Diagnostic> NoGpuKernel(const Instruction& inst, llvm::StringRef why) {
  return Error("unsupported-op", inst.loc(), "%{0}: the GPU backend has no kernel for it: {1}", inst.name(),
               why);
}

Result<std::vector<GpuKernel>> PlanGpuKernels(Module& module, const compile::Machine& machine) {
  return Collector(module, machine).Run();
}

}  // namespace hlo
