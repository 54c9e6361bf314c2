// The GPU backend: from a verified module to an executable.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "backends/compile/machine.h"
#include "backends/executable.h"
#include "backends/gpu/runtime/platform.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

struct GpuRunOptions {
  gpu::Target target;
  /// The machine that passes are told of; outlives the compilation. Null: that of the target.
  const compile::Machine* machine = nullptr;
  /// Brings a copy of the module into the form that kernels are made of (gpu::PipelineFor).
  std::function<Status(Module&)> run_passes;
  gpu::Platform platform;
  /// Runs wait for each step, so that errors name the instruction that caused them.
  bool wait_each = false;
  /// Steps that follow each other are recorded by the first run, and asked for together by those after it.
  bool graphs = false;
};

/// Compiles a copy of `module`; no driver is needed for that. What has no kernel is computed by the evaluator
/// on the host. Errors: unsupported-… (exit 5) naming the instruction, before any work; compile-kernels.
Result<std::unique_ptr<Executable>> CompileForGpu(const Module& module, const GpuRunOptions& options);

/// One line per step in the order of execution, of those for which `wanted` holds of the instruction's name:
/// the instruction and the way it is computed. Errors: those of CompileForGpu().
Result<std::string> ExplainGpuCode(const Module& module, const GpuRunOptions& options,
                                   llvm::function_ref<bool(llvm::StringRef name)> wanted);

}  // namespace hlo
