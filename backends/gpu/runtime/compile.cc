#include "backends/gpu/runtime/compile.h"

#include "backends/compile/kernel_plans.h"
#include "backends/compile/memory.h"
#include "backends/gpu/runtime/build.h"
#include "backends/gpu/runtime/run.h"
#include "backends/profile.h"
#include "backends/run_devices.h"

namespace hlo {
namespace {

using gpu::LoadedProgram;
using gpu::Program;

class GpuExecutable final : public Executable {
 public:
  GpuExecutable(std::unique_ptr<Program> program, const GpuRunOptions& options)
      : program_(std::move(program)),
        platform_(options.platform),
        wait_each_(options.wait_each),
        graphs_(options.graphs) {}

  Result<ExecutionResult> Run(std::vector<std::vector<Literal>> arguments,
                              const ExecutionOptions& options) const override {
    HLO_TRY(LoadedProgram* const loaded, Loaded());
    // Of several devices at once nobody knows whose counts they are.
    const bool alone = options.replica_count * options.partition_count == 1;
    return RunOnDevices(std::move(arguments), options, [&](hlo::Device& device, std::vector<Literal> mine) {
      std::optional<Profile::Recorder> recorder;
      if (options.profile != nullptr)
        recorder.emplace(*options.profile, alone ? loaded->gpu().counts() : nullptr);
      return loaded->Run(device, std::move(mine),
                         {.observer = options.on_instruction ? &options.on_instruction : nullptr,
                          .listener = recorder ? &*recorder : nullptr,
                          .wait_each = wait_each_,
                          .graphs = graphs_});
    });
  }
  [[nodiscard]] const Module& module() const override { return *program_->module; }
  [[nodiscard]] std::optional<MemoryPlan> Memory() const override {
    return compile::PlanMemory(*program_->module, gpu::PlacementOptions());
  }

 private:
  /// On the GPU, since the first run.
  Result<LoadedProgram*> Loaded() const {
    const std::lock_guard lock(mutex_);
    if (loaded_ == nullptr) {
      HLO_TRY(gpu::GpuPtr gpu, gpu::OpenGpu(platform_, program_->target));
      HLO_TRY(loaded_, LoadedProgram::Load(*program_, std::move(gpu)));
    }
    return loaded_.get();
  }

  std::unique_ptr<Program> program_;
  gpu::Platform platform_;
  bool wait_each_, graphs_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<LoadedProgram> loaded_;
};

Result<std::unique_ptr<Program>> MakeProgram(const Module& module, const GpuRunOptions& options,
                                             bool make_code) {
  std::optional<compile::Machine> own;
  if (options.machine == nullptr) own = gpu::MachineOf(options.target);
  const compile::Machine& machine = own ? *own : *options.machine;
  std::unique_ptr<Module> copy = module.Clone();
  HLO_CHECK_OK(compile::CheckKernels(*copy, machine));
  HLO_CHECK_OK(options.run_passes(*copy));
  return gpu::BuildProgram(std::move(copy), options.target, machine, make_code);
}

void Explain(const gpu::Sequence& sequence, llvm::function_ref<bool(llvm::StringRef name)> wanted,
             const std::string& indent, llvm::raw_ostream& os) {
  for (const auto& step : sequence) {
    const Instruction& inst = *step->instruction;
    if (wanted(inst.name()))
      os << indent << '%' << inst.name() << " (" << inst.info().text
         << "): " << gpu::RunnerOf(*step).Explain() << '\n';
    for (size_t i = 0; i < step->parts.size(); ++i) {
      std::string inner;
      llvm::raw_string_ostream part(inner);
      Explain(step->parts[i], wanted, indent + "    ", part);
      if (!inner.empty()) os << indent << "  " << step->PartName(i) << ":\n" << inner;
    }
  }
}

}  // namespace

Result<std::unique_ptr<Executable>> CompileForGpu(const Module& module, const GpuRunOptions& options) {
  HLO_TRY(auto program, MakeProgram(module, options, /*make_code=*/true));
  return std::make_unique<GpuExecutable>(std::move(program), options);
}

Result<std::string> ExplainGpuCode(const Module& module, const GpuRunOptions& options,
                                   llvm::function_ref<bool(llvm::StringRef name)> wanted) {
  HLO_CHECK_OK(CheckSupported(module, {}));
  HLO_TRY(const auto program, MakeProgram(module, options, /*make_code=*/false));
  std::string text;
  llvm::raw_string_ostream os(text);
  Explain(program->entry, wanted, "", os);
  return text;
}

}  // namespace hlo
