// The GPU backend: from a verified module to an executable.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "backends/compile/machine.h"
#include "backends/compile/program_cache.h"
#include "backends/executable.h"
#include "backends/gpu/libraries/load.h"
#include "backends/gpu/runtime/graphs.h"
#include "backends/gpu/runtime/stream_plan.h"
#include "backends/gpu/runtime/tuning.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

struct GpuRunOptions {
  gpu::Target target;
  /// The machine that passes are told of; outlives the compilation. Null: that of the target.
  const compile::Machine* machine = nullptr;
  /// Brings a copy of the module into the form that kernels are made of (gpu::PipelineFor).
  std::function<Status(Module&)> run_passes;
  /// What decides what these do (compile::KeyOfPasses): programs with their PTX are kept on disk and taken
  /// from there. Empty: they are not.
  std::string cache_key;
  compile::ProgramStore store;
  /// Takes remarks, as why what lies on disk was not used, or a library that is there: also while programs
  /// run, from any thread.
  std::function<void(Diagnostic)> report;
  gpu::TuningOptions tuning;
  gpu::Platform platform;
  /// Of NVIDIA: what they have is done by them.
  gpu::LibraryOptions libraries;
  /// Runs wait for each step, so that errors name the instruction that caused them.
  bool wait_each = false;
  /// The GPUs of the devices of a run, by their numbers, as replica * partitions + partition counts these.
  /// Empty: they take those that there are in turn.
  std::vector<int> gpus;
  /// Which steps run beside others; none with graphs always on, nor where runs wait for each step.
  gpu::SideStreams side_streams = gpu::SideStreams::Auto;
  /// What is recorded and asked for together later.
  gpu::GraphUse graphs = gpu::GraphUse::Auto;
};

/// Whether a library of NVIDIA's, as `cuDNN`, is used where it has something to do: no GPU is needed for the
/// answer.
bool HasGpuLibrary(llvm::StringRef name, const gpu::LibraryOptions& options, bool emulated);

/// Compiles a copy of `module`; no driver is needed for that. What has no kernel is computed by the evaluator
/// on the host. Errors: unsupported-… (exit 5) naming the instruction, before any work; compile-kernels.
Result<std::unique_ptr<Executable>> CompileForGpu(const Module& module, const GpuRunOptions& options);

/// One line per step in the order of execution, of those for which `wanted` holds of the instruction's name:
/// the instruction and the way it is computed. Errors: those of CompileForGpu().
Result<std::string> ExplainGpuCode(const Module& module, const GpuRunOptions& options,
                                   llvm::function_ref<bool(llvm::StringRef name)> wanted);

}  // namespace hlo
