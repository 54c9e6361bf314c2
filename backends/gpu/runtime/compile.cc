#include "backends/gpu/runtime/compile.h"

#include <cmath>
#include <map>

#include "backends/compile/kernel_plans.h"
#include "backends/compile/memory.h"
#include "backends/compile/program_cache.h"
#include "backends/gpu/runtime/build.h"
#include "backends/gpu/runtime/library_calls.h"
#include "backends/gpu/runtime/run.h"
#include "backends/gpu/runtime/split_for_libraries.h"
#include "backends/profile.h"
#include "backends/run_devices.h"
#include "ir/support/binary.h"

namespace hlo {
namespace {

using gpu::LoadedProgram;
using gpu::Program;

/// With elements of less than a byte in bytes of their own, where they are on the host.
DeviceValue Unpacked(DeviceValue value) {
  if (value.array() != nullptr) return value;
  if (value.elements().empty()) return DeviceValue(std::move(*std::move(value).ToHost()).Unpack());
  std::vector<DeviceValue> elements;
  for (const DeviceValue& element : value.elements()) elements.push_back(Unpacked(element));
  return DeviceValue::OfElements(std::move(elements));
}

class GpuExecutable final : public Executable {
 public:
  GpuExecutable(std::unique_ptr<Program> program, const GpuRunOptions& options)
      : program_(std::move(program)),
        platform_(options.platform),
        libraries_(options.libraries),
        report_(options.report),
        wait_each_(options.wait_each),
        graphs_(options.graphs),
        gpus_(options.gpus) {}

  Result<ExecutionResult> Run(std::vector<std::vector<Literal>> arguments,
                              const ExecutionOptions& options) const override {
    return RunWith(std::move(arguments), options,
                   [](LoadedProgram& loaded, hlo::Device& device, std::vector<Literal>& mine,
                      const LoadedProgram::Observers& observers) {
                     return loaded.Run(device, ToValues(std::move(mine)), observers);
                   });
  }
  Result<DeviceResult> RunOnValues(std::vector<std::vector<DeviceValue>> arguments,
                                   const ExecutionOptions& options) const override {
    DeviceResult result;
    result.results.resize(arguments.size());
    for (std::vector<DeviceValue>& mine : arguments)
      for (DeviceValue& argument : mine) argument = Unpacked(std::move(argument));
    // Devices take their arguments themselves: for what runs them there are none.
    std::vector<std::vector<Literal>> none(arguments.size());
    HLO_TRY(ExecutionResult run,
            RunWith(std::move(none), options,
                    [&](LoadedProgram& loaded, hlo::Device& device, std::vector<Literal>&,
                        const LoadedProgram::Observers& observers) -> Result<Literal> {
                      const auto number = static_cast<size_t>(device.id());
                      HLO_TRY(result.results[number],
                              loaded.RunThere(device, std::move(arguments[number]), observers));
                      return Literal();
                    }));
    result.outfeeds = std::move(run.outfeeds);
    return result;
  }
  Result<std::optional<int64_t>> DeviceTime(const std::vector<std::vector<Literal>>& arguments,
                                            const ExecutionOptions& options) const override {
    if (arguments.size() != 1) return std::optional<int64_t>();
    HLO_TRY(const std::vector<int> gpus, GpusOf(1));
    HLO_TRY(const LoadedProgram* const known, Loaded(gpus.front()));
    if (!known->MayBeRepeated()) return std::optional<int64_t>();
    std::optional<int64_t> time;
    HLO_TRY([[maybe_unused]] const ExecutionResult nothing,
            RunOnDevices(arguments, options,
                         [&](hlo::Device& device, std::vector<Literal> mine) -> Result<Literal> {
                           HLO_TRY(LoadedProgram* const loaded, Loaded(gpus.front()));
                           HLO_TRY(const double ns, loaded->Nanoseconds(device, std::move(mine), graphs_));
                           time = std::llround(ns);
                           return Literal();
                         }));
    return time;
  }
  [[nodiscard]] const Module& module() const override { return *program_->module; }
  [[nodiscard]] std::optional<MemoryPlan> Memory() const override {
    MemoryPlan plan = compile::PlanMemory(*program_->module, gpu::PlacementOptions(program_->machine));
    // What is emulated is part of the machine.
    if (!platform_.emulated) plan.device_memory = program_->target.memory_bytes;
    return plan;
  }

 private:
  /// `run` for each device on its GPU.
  template <class RunOne>
  Result<ExecutionResult> RunWith(std::vector<std::vector<Literal>> arguments,
                                  const ExecutionOptions& options, RunOne run) const {
    // Of several devices at once nobody knows whose counts they are.
    const int64_t devices = options.replica_count * options.partition_count;
    HLO_TRY(const std::vector<int> gpus, GpusOf(devices));
    return RunOnDevices(
        std::move(arguments), options,
        [&](hlo::Device& device, std::vector<Literal> mine) -> Result<Literal> {
          HLO_TRY(LoadedProgram* const loaded, Loaded(gpus[static_cast<size_t>(device.id())]));
          std::optional<Profile::Recorder> recorder;
          if (options.profile != nullptr)
            recorder.emplace(*options.profile, devices == 1 ? loaded->gpu().counts() : nullptr);
          Result<Literal> result =
              run(*loaded, device, mine,
                  {.observer = options.on_instruction ? &options.on_instruction : nullptr,
                   .listener = recorder ? &*recorder : nullptr,
                   .took = recorder && !platform_.emulated ? [&recorder](int64_t ns) { recorder->Took(ns); }
                                                           : std::function<void(int64_t)>(),
                   .done_by =
                       [&](llvm::StringRef library) {
                         if (recorder) recorder->DoneBy(library);
                         if (options.on_library) options.on_library(library);
                       },
                   .wait_each = wait_each_,
                   .graphs = graphs_});
          if (auto remark = loaded->gpu().TakeRemark(); remark && report_) report_(std::move(*remark));
          return result;
        });
  }
  /// The GPU of each device.
  Result<std::vector<int>> GpusOf(int64_t devices) const {
    if (!gpus_.empty()) {
      if (static_cast<int64_t>(gpus_.size()) < devices)
        return Error("unavailable-gpu", {}, "{0} devices need a GPU each, {1} are given", devices,
                     gpus_.size());
      return gpus_;
    }
    HLO_TRY(LoadedProgram* const first, Loaded(0));
    std::vector<int> all;
    for (int64_t device = 0; device < devices; ++device)
      all.push_back(static_cast<int>(device % first->gpu().count()));
    return all;
  }
  /// On a GPU, since the first run of a device that it has.
  Result<LoadedProgram*> Loaded(int ordinal) const {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<LoadedProgram>& loaded = loaded_[ordinal];
    if (loaded == nullptr) {
      HLO_TRY(gpu::GpuPtr gpu, gpu::OpenGpu(platform_, program_->target, ordinal));
      HLO_TRY(loaded, LoadedProgram::Load(*program_, std::move(gpu), libraries_, [&](Diagnostic d) {
                if (report_) report_(std::move(d));
              }));
    }
    return loaded.get();
  }

  std::unique_ptr<Program> program_;
  gpu::Platform platform_;
  gpu::LibraryOptions libraries_;
  std::function<void(Diagnostic)> report_;
  bool wait_each_;
  gpu::GraphUse graphs_;
  std::vector<int> gpus_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<LoadedProgram>> loaded_;  // by the number of the GPU
};

compile::Machine MachineFor(const GpuRunOptions& options) {
  return options.machine != nullptr ? *options.machine : gpu::MachineOf(options.target);
}

/// `prepared` sees the module that the passes left.
Result<std::unique_ptr<Program>> MakeProgram(const Module& module, const GpuRunOptions& options,
                                             bool make_code,
                                             llvm::function_ref<void(const Module&)> prepared) {
  const compile::Machine machine = MachineFor(options);
  std::unique_ptr<Module> copy = module.Clone();
  HLO_CHECK_OK(compile::CheckKernels(*copy, machine));
  const bool libraries = gpu::UsesLibraries(options.libraries, options.platform.emulated);
  // Who only looks wants to see what there is with a library.
  const auto expected = [&](llvm::StringRef name) {
    return !make_code || HasGpuLibrary(name, options.libraries, options.platform.emulated);
  };
  if (libraries) HLO_CHECK_OK(gpu::MakeLibraryCalls(*copy, expected));
  HLO_CHECK_OK(options.run_passes(*copy));
  if (libraries) HLO_CHECK_OK(gpu::SplitForLibraries(*copy, machine, expected));
  if (make_code && options.tuning.tuning != gpu::Tuning::Off)
    HLO_CHECK_OK(gpu::Tune(*copy, options.target, machine, options.platform, options.tuning));
  prepared(*copy);
  return gpu::BuildProgram(std::move(copy), options.target, machine, make_code);
}

std::string CacheKey(const Module& module, const GpuRunOptions& options) {
  if (options.cache_key.empty()) return "";
  const bool emulated = options.platform.emulated;
  const auto expected = [&](llvm::StringRef name) {
    return HasGpuLibrary(name, options.libraries, emulated);
  };
  BinaryWriter key;
  for (const llvm::StringRef part : {llvm::StringRef("gpu"), llvm::StringRef(options.cache_key)})
    key.Text(part);
  key.Text(ToString(options.target));
  key.Text(gpu::KeyOfTuning(options.tuning));
  const bool libraries = gpu::UsesLibraries(options.libraries, emulated);
  key.Text(libraries ? "libraries " + gpu::LibrariesFor(module, expected) : "");
  return std::move(key).Take();
}

/// Made anew or as the cache has it.
Result<std::unique_ptr<Program>> CompileProgram(const Module& module, const GpuRunOptions& options) {
  using compile::ProgramCache;
  const std::string key = CacheKey(module, options);
  ProgramCache cache(module, key, options.store);
  std::string why;
  if (auto entry = cache.Load(why)) {
    auto program = gpu::LoadProgram(std::move(entry->module), options.target, MachineFor(options),
                                    entry->program, entry->code);
    if (program != nullptr) return program;
    why = ProgramCache::Unfit();
  }
  if (options.report && !why.empty()) {
    Diagnostic remark = MakeError("kernel-cache", {}, "{0}", why);
    remark.severity = Severity::Remark;
    options.report(std::move(remark));
  }
  HLO_TRY(auto program, MakeProgram(module, options, /*make_code=*/true,
                                    [&](const Module& prepared) { cache.KeepModule(prepared); }));
  // What was tried on the way is known to the next run, which finds it under another key.
  if (cache.exists() && CacheKey(module, options) == key)
    cache.Store(ToBinary(*program), program->kernels.ToBinary());
  return program;
}

class Explainer {
 public:
  Explainer(const Program& program, const gpu::LibraryOptions& libraries,
            llvm::function_ref<bool(llvm::StringRef name)> wanted)
      : program_(program), libraries_(libraries), wanted_(wanted) {}
  void Explain(const gpu::Sequence& sequence, const std::string& indent, llvm::raw_ostream& os) const {
    const auto found = program_.streams.sequences.find(&sequence);
    const gpu::StepPlace* place =
        found == program_.streams.sequences.end() ? nullptr : found->second.steps.data();
    llvm::DenseMap<int32_t, llvm::StringRef> recorded;  // the steps behind which events are
    for (const auto& known : sequence) {
      const gpu::Step& step = *known;
      const Instruction& inst = *step.instruction;
      if (wanted_(inst.name()))
        os << indent << '%' << inst.name() << " (" << inst.info().text
           << "): " << gpu::RunnerOf(step).Explain() << (place == nullptr ? "" : StreamOf(*place, recorded))
           << LibraryOf(step) << '\n';
      if (place != nullptr) recorded[place++->event] = inst.name();
      for (size_t i = 0; i < step.parts.size(); ++i) {
        std::string inner;
        llvm::raw_string_ostream part(inner);
        Explain(step.parts[i], indent + "    ", part);
        if (!inner.empty()) os << indent << "  " << step.PartName(i) << ":\n" << inner;
      }
    }
  }

 private:
  /// Where a step runs beside others: its stream, and the steps of other streams that it waits for.
  static std::string StreamOf(const gpu::StepPlace& place,
                              const llvm::DenseMap<int32_t, llvm::StringRef>& recorded) {
    std::string text;
    if (place.stream > 0) text = ", on stream " + std::to_string(place.stream);
    for (const int32_t event : place.waits)
      if (const auto it = recorded.find(event); it != recorded.end())
        text += (", after %" + it->second).str();
    return text;
  }

  /// Whether a library does it where there is one, and what that is told.
  [[nodiscard]] std::string LibraryOf(const gpu::Step& step) const {
    const gpu::LibraryStep* const library = gpu::RunnerOf(step).library_step();
    const bool off = libraries_.use == gpu::LibraryOptions::Use::Off;
    if (library == nullptr || (off && libraries_.why_off.empty())) return "";
    const std::string name = library->library->name.str();
    if (off || library->work == nullptr)
      return ", not " + name + ": " + (off ? libraries_.why_off : library->why);
    return ", or " + name + ": " + library->work->ToString(*step.instruction);
  }

  const Program& program_;
  const gpu::LibraryOptions& libraries_;
  llvm::function_ref<bool(llvm::StringRef name)> wanted_;
};

}  // namespace

bool HasGpuLibrary(llvm::StringRef name, const gpu::LibraryOptions& options, bool emulated) {
  return gpu::UsesLibraries(options, emulated) &&
         llvm::any_of(gpu::Libraries(), [&](const gpu::LibraryInfo& library) {
           return library.name == name && library.is_there(options);
         });
}

Result<std::unique_ptr<Executable>> CompileForGpu(const Module& module, const GpuRunOptions& options) {
  HLO_TRY(auto program, CompileProgram(module, options));
  program->streams = gpu::PlanStreams(*program, options.target, options.side_streams);
  return std::make_unique<GpuExecutable>(std::move(program), options);
}

Result<std::string> ExplainGpuCode(const Module& module, const GpuRunOptions& options,
                                   llvm::function_ref<bool(llvm::StringRef name)> wanted) {
  HLO_CHECK_OK(CheckSupported(module, {}));
  HLO_TRY(const auto program, MakeProgram(module, options, /*make_code=*/false, [](const Module&) {}));
  program->streams = gpu::PlanStreams(*program, options.target, options.side_streams);
  std::string text;
  llvm::raw_string_ostream os(text);
  Explainer(*program, options.libraries, wanted).Explain(program->entry, "", os);
  return text;
}

}  // namespace hlo
