#include "backends/client/platform.h"

#include "backends/compile/program_cache.h"
#include "backends/gpu/passes/passes.h"
#include "backends/interpreter/interpreter.h"

namespace hlo {
namespace {

using Compiled = Result<std::unique_ptr<Executable>>;

Compiled CompileForInterpreter(const Module& module, const CompileOptions& options) {
  (void)options;
  return MakeInterpreter(module);
}

Compiled CompileForHost(const Module& module, const CompileOptions& options) {
  CpuOptions cpu = options.cpu;
  static_cast<compile::PassPlan&>(cpu) = options.passes;
  cpu.store = options.store;
  cpu.report = options.report;
  return CompileForCpu(module, cpu);
}

Compiled CompileForGpus(const Module& module, const CompileOptions& options, bool emulated) {
  if (options.cpu.program.exists())
    return Error("unavailable-feature", {}, "the input is a program, which is one for the CPU");
  GpuRunOptions gpu = options.gpu;
  compile::PassPlan passes = options.passes;
  std::optional<compile::Machine> own;
  if (gpu.machine == nullptr) gpu.machine = &own.emplace(gpu::MachineOf(gpu.target));
  if (passes.controls.machine == nullptr) passes.controls.machine = gpu.machine;
  if (passes.pipeline.empty()) {
    HLO_TRY(passes.pipeline, ParsePipeline(gpu::PipelineFor(passes.optimization_level)));
  }
  gpu.run_passes = [&](Module& copy) { return compile::RunPasses(copy, passes, ""); };
  if (options.store.exists() && !passes.watched)
    gpu.cache_key = compile::KeyOfPasses(passes.selection, passes.controls, passes.pipeline).value_or("");
  gpu.store = options.store;
  if (gpu.tuning.file.empty() && !options.store.folder.empty())
    gpu.tuning.file = options.store.folder + "/" + gpu::TuningOptions::kFileName;
  gpu.report = options.report;
  gpu.platform.emulated = emulated;
  return CompileForGpu(module, gpu);
}

Compiled CompileForDevice(const Module& module, const CompileOptions& options) {
  return CompileForGpus(module, options, /*emulated=*/false);
}

Compiled CompileForEmulator(const Module& module, const CompileOptions& options) {
  return CompileForGpus(module, options, /*emulated=*/true);
}

using enum PlatformInfo::Takes;
constexpr PlatformInfo kPlatforms[] = {
#define HLO_PLATFORM(kind, name, compile, takes) {Platform::kind, name, &(compile), takes},
#include "backends/client/platforms.def"
#undef HLO_PLATFORM
};

}  // namespace

llvm::ArrayRef<PlatformInfo> Platforms() { return kPlatforms; }

const PlatformInfo& Info(Platform platform) { return kPlatforms[static_cast<size_t>(platform)]; }

}  // namespace hlo
