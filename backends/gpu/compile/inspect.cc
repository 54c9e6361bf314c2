#include "backends/gpu/compile/inspect.h"

#include "backends/gpu/codegen/ptx_module.h"
#include "backends/gpu/compile/kernels.h"
#include "backends/gpu/toolkit/toolkit.h"
#include "backends/kernel/threads.h"
#include "backends/run_devices.h"

namespace hlo {
namespace {

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
  HLO_TRY(const std::vector<GpuKernel> kernels, PlanGpuKernels(*copy, machine));
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
      return NoGpuKernel(*kernels[i].instructions.front(), added.error().message);
    }
    const bool llvm = form == GpuCodeForm::LlvmBefore || form == GpuCodeForm::LlvmAfter;
    text += Heading(kernels[i], llvm ? ";" : "//");
  }
  if (form == GpuCodeForm::KernelIr) return text;
  const gpu::PtxForm forms[] = {gpu::PtxForm::LlvmBefore, gpu::PtxForm::LlvmBefore, gpu::PtxForm::LlvmAfter,
                                gpu::PtxForm::Ptx,        gpu::PtxForm::Ptx,        gpu::PtxForm::Ptx};
  HLO_TRY(const std::string printed, code.Print(forms[static_cast<size_t>(form)]));
  text += printed;
  if (form < GpuCodeForm::Cubin) return text;
  HLO_TRY(std::string cubin, gpu::Assemble(text, options.target.arch));
  return form == GpuCodeForm::Cubin ? std::move(cubin) : gpu::Disassemble(cubin);
}

}  // namespace hlo
