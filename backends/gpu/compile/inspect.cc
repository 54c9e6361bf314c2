#include "backends/gpu/compile/inspect.h"

#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_plans.h"
#include "backends/gpu/codegen/ptx_module.h"
#include "backends/kernel/threads.h"
#include "backends/run_devices.h"
#include "passes/analysis/fusion_facts.h"

namespace hlo {
namespace {

using compile::KernelPlanPtr;

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

/// A kernel and the instructions that it computes, equal ones being one.
struct GpuKernel {
  KernelPlanPtr plan;
  std::string name;
  std::vector<const Instruction*> instructions;
};

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
    if (!plan && IsDeclined(plan.error())) return Unsupported(inst, plan.error().message);
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

 public:
  static tl::unexpected<Diagnostic> Unsupported(const Instruction& inst, llvm::StringRef why) {
    return Error("unsupported-op", inst.loc(), "%{0}: the GPU backend has no kernel for it: {1}", inst.name(),
                 why);
  }

 private:
  Module& module_;
  compile::KernelPlans& plans_;
  std::vector<GpuKernel> kernels_;
};

std::string Heading(const GpuKernel& kernel, llvm::StringRef comment) {
  std::string text = (comment + " " + kernel.name + ":").str();
  for (const Instruction* inst : kernel.instructions) text += " %" + inst->name().str();
  const auto [x, y, z] = kernel::ShapeOfGrid(kernel.plan->lowered.kernel);
  text += llvm::formatv(", {0} x {1} x {2} blocks", x, y, z).str();
  if (!kernel.plan->schedule.empty()) text += ", " + kernel.plan->schedule;
  return text + "\n";
}

}  // namespace

Result<std::string> GenerateGpuCode(const Module& module, const GpuOptions& options, GpuCodeForm form,
                                    llvm::function_ref<bool(llvm::StringRef name)> wanted) {
  HLO_CHECK_OK(CheckSupported(module, {}));
  const compile::Machine machine = gpu::MachineOf(options.target);
  const std::unique_ptr<Module> copy = module.Clone();
  HLO_CHECK_OK(options.run_passes(*copy));
  HLO_CHECK_OK(compile::CheckKernels(*copy, machine));
  HLO_TRY(const std::vector<GpuKernel> kernels, Collector(*copy, machine).Run());
  HLO_TRY(gpu::PtxModule code, gpu::PtxModule::Create(options.target));
  std::string text;
  for (size_t i = 0; i < kernels.size(); ++i) {
    bool chosen = wanted("k" + std::to_string(i));
    for (const Instruction* inst : kernels[i].instructions) chosen |= wanted(inst->name());
    // All of them have to be such that there is code.
    kernel::Kernel named = kernel::Clone(kernels[i].plan->lowered.kernel);
    named.name = kernels[i].name;
    if (form == GpuCodeForm::KernelIr) {
      if (chosen) text += Heading(kernels[i], "//") + ToString(named);
      continue;
    }
    if (!chosen) continue;
    if (const Status added = code.Add(named); !added) {
      if (!IsDeclined(added.error())) return Error(added.error());
      return Collector::Unsupported(*kernels[i].instructions.front(), added.error().message);
    }
    text += Heading(kernels[i], form == GpuCodeForm::Ptx ? "//" : ";");
  }
  if (form == GpuCodeForm::KernelIr) return text;
  const gpu::PtxForm forms[] = {gpu::PtxForm::LlvmBefore, gpu::PtxForm::LlvmBefore, gpu::PtxForm::LlvmAfter,
                                gpu::PtxForm::Ptx};
  HLO_TRY(const std::string printed, code.Print(forms[static_cast<size_t>(form)]));
  return text + printed;
}

}  // namespace hlo
