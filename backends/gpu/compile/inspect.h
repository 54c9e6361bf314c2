// What the GPU backend makes of a module, to look at: nothing is run.
#pragma once
#include <functional>
#include <string>

#include "backends/gpu/target/target.h"
#include "ir/module.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/pipeline.h"

namespace hlo {

/// Cubin: an object of machine code. Sass: its instructions. Both need NVIDIA's toolkit.
enum class GpuCodeForm : uint8_t { KernelIr, LlvmBefore, LlvmAfter, Ptx, Cubin, Sass };

struct GpuOptions {
  gpu::Target target;
  /// Brings a copy of the module into the form that kernels are made of (gpu::PipelineFor).
  std::function<Status(Module&)> run_passes;
};

/// The kernels of a module for which `wanted` holds of `k0` or of the name of an instruction that they
/// compute, in one form: a module of LLVM IR or PTX, headed by what its kernels compute. Errors:
/// unavailable-toolkit; unsupported-… (exit 5), at the instruction that the backend has no code for.
Result<std::string> GenerateGpuCode(const Module& module, const GpuOptions& options, GpuCodeForm form,
                                    llvm::function_ref<bool(llvm::StringRef name)> wanted);

}  // namespace hlo
