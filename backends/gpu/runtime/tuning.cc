#include "backends/gpu/runtime/tuning.h"

#include <random>

#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_plans.h"
#include "backends/compile/object_cache.h"
#include "backends/gpu/runtime/build.h"
#include "backends/gpu/runtime/run.h"
#include "backends/gpu/runtime/tuning_results.h"
#include "backends/run_devices.h"
#include "ir/findings.h"
#include "ir/numeric/float_format.h"
#include "ir/op.h"
#include "ir/support/input_file.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include "passes/analysis/cost.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/analysis/sharing.h"

namespace hlo::gpu {
namespace {

/// Another schedule than the first must be so much better: clocks are not exact, and neither are counts.
constexpr double kWorthwhile = 0.98;
/// Operations and bytes of the largest kernel that is tried on the emulated GPU, which does some tens of
/// millions in a second.
constexpr double kMostEmulated = 1 << 24;
constexpr double kNanoseconds = 1e9;

std::string FileOf(const TuningOptions& options) {
  if (!options.file.empty()) return options.file;
  const std::string folder = compile::CacheFolder();
  return folder.empty() ? "" : folder + "/" + TuningOptions::kFileName;
}

/// A module of the fusion alone, scheduled.
std::unique_ptr<Module> ModuleOf(const Instruction& fusion) {
  auto module = std::make_unique<Module>(fusion.name());
  llvm::DenseMap<const Computation*, Computation*> copies;
  // What it calls comes before it.
  llvm::DenseSet<const Computation*> called;
  std::vector<const Computation*> work = {fusion.callee()};
  while (!work.empty()) {
    const Computation* const at = work.back();
    work.pop_back();
    if (!called.insert(at).second) continue;
    for (const Instruction* inst : at->instructions())
      work.insert(work.end(), inst->callees().begin(), inst->callees().end());
  }
  for (const Computation* computation : fusion.module()->PostOrder()) {
    if (!called.contains(computation)) continue;
    Computation* const copy = module->AddComputation(computation->name());
    CloneInto(*computation, *copy, [&](Computation* callee) { return copies.lookup(callee); });
    copies[computation] = copy;
  }
  Computation* const entry = module->AddComputation("entry");
  module->set_entry(entry);
  llvm::SmallVector<Instruction*, 4> parameters;
  for (const Instruction* operand : fusion.operands()) {
    const auto number = static_cast<int64_t>(parameters.size());
    const llvm::StringRef name = module->Save("p" + std::to_string(number));
    ParameterAttrs attrs;
    attrs.number = number;
    parameters.push_back(entry->Add(OpKind::Parameter, operand->shape(), name, {}, std::move(attrs)));
  }
  entry->set_root(
      CloneInstruction(fusion, *entry, parameters, {copies.lookup(fusion.callee())}, fusion.name()));
  std::vector<Instruction*> order(parameters.begin(), parameters.end());
  order.push_back(entry->root());
  entry->set_schedule(std::move(order));
  module->config.is_scheduled = true;
  // What is written in place of an operand is so here, too, whose operands are parameters.
  for (const OutputOperandAlias& pair : InPlacePairs(*entry->root()))
    module->config.input_output_alias.push_back({pair.output, pair.operand, pair.operand_index});
  llvm::sort(module->config.input_output_alias,
             [](const InputOutputAlias& a, const InputOutputAlias& b) { return a.output < b.output; });
  return module;
}

/// Products of zeros take less power, and so less time: floats at random from a half to one, other types
/// zeros.
Literal ArgumentOf(const Shape& shape, std::mt19937_64& random) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(ArgumentOf(element, random));
    return Literal::MakeTuple(std::move(elements));
  }
  if (!shape.IsArray()) return Literal::MakeToken();
  Literal literal = Literal::Zeros(shape);
  if (!IsFloat(shape.element_type())) return literal;
  const FloatFormat format = Format(shape.element_type());
  const uint64_t half = static_cast<uint64_t>(format.bias - 1) << format.mantissa_bits;
  for (int64_t i = 0; i < shape.ElementCount(); ++i)
    literal.SetBits(i, half | (random() & format.mantissa_mask()));
  return literal;
}

/// What kernels take at the peaks of the target, where blocks run in waves.
double Estimate(const DeviceCounts& before, const DeviceCounts& after, const KernelTable& kernels,
                const Target& target) {
  double blocks = 1;
  for (const KernelEntry& kernel : kernels.entries())
    blocks = std::max(blocks, double{1} * kernel.grid[0] * kernel.grid[1] * kernel.grid[2]);
  const auto processors = static_cast<double>(target.multiprocessors);
  const double waves = std::ceil(blocks / processors), busy = std::min(1.0, blocks / processors);
  const auto sectors = static_cast<double>(after.sectors - before.sectors);
  const auto cycles = static_cast<double>(after.shared_cycles - before.shared_cycles);
  const double memory = sectors * static_cast<double>(target.sector_bytes) /
                        (static_cast<double>(target.memory_bandwidth) * busy);
  const double shared = waves * cycles / blocks / static_cast<double>(target.clock_hz);
  return std::max(memory, shared) * kNanoseconds;
}

class Tuner {
 public:
  Tuner(const Target& target, const compile::Machine& machine, Platform platform)
      : target_(target), machine_(machine), platform_(std::move(platform)) {
    // What a module promises of its values, such as indices that differ, made-up ones do not keep.
    platform_.emulation.device.check_races = false;
  }

  /// The one of them that takes the least time; declines what is no kernel where it is alone.
  Result<TuningResults::Entry> Best(const Instruction& fusion, llvm::ArrayRef<std::string> schedules) {
    if (gpu_ == nullptr) {
      HLO_TRY(gpu_, OpenGpu(platform_, target_));
    }
    TuningResults::Entry best;
    for (const std::string& schedule : schedules) {
      const Result<double> taken = Try(fusion, schedule);
      // Not all of them suit the kernel, and a GPU may lack room for some.
      if (!taken && (gpu_->IsLost() || taken.error().id == "interrupted" ||
                     taken.error().id == "limit-timeout" || &schedule == schedules.begin()))
        return Error(taken.error());
      if (taken && (best.schedule.empty() || *taken < best.nanoseconds * kWorthwhile))
        best = {*taken, schedule};
    }
    return best;
  }

 private:
  Result<double> Try(const Instruction& fusion, const std::string& schedule) {
    std::unique_ptr<Module> module = ModuleOf(fusion);
    compile::SetKernelConfig(module->entry()->root(), {compile::KernelPath::Loops, schedule});
    HLO_TRY(const auto program, BuildProgram(std::move(module), target_, machine_));
    if (program->entry.size() != 1 || program->entry.front()->kind != StepKind::Kernel)
      return Decline(fusion.loc(), "it is no kernel");
    HLO_TRY(const auto loaded, LoadedProgram::Load(*program, gpu_));
    std::mt19937_64 random;  // the same for all
    std::vector<Literal> arguments;
    for (const Instruction* operand : fusion.operands())
      arguments.push_back(ArgumentOf(operand->shape(), random));
    double taken = 0;
    const auto run = [&](hlo::Device& device, std::vector<Literal> mine) -> Result<Literal> {
      if (!gpu_->counts()) {
        HLO_TRY(taken, loaded->Nanoseconds(device, std::move(mine)));
        return Literal::MakeToken();
      }
      const DeviceCounts before = gpu_->counts()();
      HLO_TRY(Literal result, loaded->Run(device, ToValues(std::move(mine)), {}));
      taken = Estimate(before, gpu_->counts()(), program->kernels, target_);
      return result;
    };
    HLO_CHECK_OK(RunOnDevices({std::move(arguments)}, {}, run));
    return taken;
  }

  const Target& target_;
  const compile::Machine& machine_;
  Platform platform_;
  GpuPtr gpu_;  // once something is tried
};

std::vector<Instruction*> KernelsOf(const Module& module) {
  std::vector<Instruction*> kernels;
  for (const auto& computation : module.computations()) {
    if (!RunsOnWholeValues(*computation)) continue;
    for (Instruction* inst : computation->InstructionsOf(OpKind::Fusion))
      if (const auto config = compile::KernelConfigOf(*inst); config && config->schedule)
        kernels.push_back(inst);
  }
  return kernels;
}

}  // namespace

Status Tune(Module& module, const Target& target, const compile::Machine& machine, const Platform& platform,
            const TuningOptions& options) {
  const std::string file = FileOf(options);
  HLO_TRY(TuningResults results, TuningResults::Read(file));
  const std::string text = ToString(target);
  const CostAnalysis costs(module);
  Tuner tuner(target, machine, platform);
  bool tried = false, changed = false;
  for (Instruction* kernel : KernelsOf(module)) {
    const auto alternatives = compile::AlternativesOf(*kernel, machine);
    if (!alternatives && !IsDeclined(alternatives.error())) return Error(alternatives.error());
    if (!alternatives || alternatives->schedules.size() < 2) continue;
    const std::string& first = alternatives->schedules.front();
    if (*compile::KernelConfigOf(*kernel)->schedule != first) continue;
    const TuningResults::Key key{target.name, platform.emulated ? "gpu-emu" : "gpu",
                                 TuningResults::HashOf(text, alternatives->kernel)};
    const TuningResults::Entry* known = results.Find(key);
    if (known != nullptr && !llvm::is_contained(alternatives->schedules, known->schedule)) known = nullptr;
    const Cost& cost = costs.Of(*kernel);
    const bool small = cost.flops + cost.transcendentals + cost.bytes <= kMostEmulated;
    if (known == nullptr && options.tuning == Tuning::On && (small || !platform.emulated)) {
      auto best = tuner.Best(*kernel, alternatives->schedules);
      if (!best && IsDeclined(best.error())) continue;
      if (!best) return Error(best.error());
      results.Add(key, *std::move(best));
      known = results.Find(key);
      tried = true;
    }
    if (known == nullptr || known->schedule == first) continue;
    compile::SetKernelConfig(kernel, {compile::KernelPath::Loops, known->schedule});
    changed = true;
  }
  // Plans of kernels are of what they were.
  if (changed) SetFindings(module, nullptr);
  return tried && !file.empty() ? results.Write(file) : Status();
}

std::string KeyOfTuning(const TuningOptions& options) {
  if (options.tuning == Tuning::Off) return "";
  const auto buffer = ReadInputFile(FileOf(options), TuningResults::kMostBytes);
  const llvm::StringRef text = buffer ? (*buffer)->getBuffer() : llvm::StringRef();
  return "tuned " + TuningResults::HashOf("", text);
}

}  // namespace hlo::gpu
