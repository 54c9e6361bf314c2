// The kernels that a module is made of.
#pragma once
#include <string>
#include <vector>

#include "backends/compile/kernel_plans.h"
#include "ir/module.h"

namespace hlo {

/// A kernel and the instructions that it computes, equal ones being one.
struct GpuKernel {
  compile::KernelPlanPtr plan;
  std::string name;  // that PTX takes
  std::vector<const Instruction*> instructions;
};

/// Of a module that the pipeline of a level left (gpu::PipelineFor). Errors: unsupported-op, at the
/// instruction that needs a kernel and has none.
Result<std::vector<GpuKernel>> PlanGpuKernels(Module& module, const compile::Machine& machine);

/// The error for an instruction without kernel.
tl::unexpected<Diagnostic> NoGpuKernel(const Instruction& inst, llvm::StringRef why);

}  // namespace hlo
