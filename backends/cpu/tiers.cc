#include "backends/cpu/tiers.h"

#include "llvm/Support/FormatVariadic.h"

namespace hlo::cpu {
namespace {

// In nanoseconds, of all executions together; see MEASUREMENTS.md.
constexpr double kWholeProgram = 1e6;  // some more than code takes to be loaded from the cache
constexpr double kOneKernel = 3e4;     // in programs that are compiled anyway
constexpr double kMixed = 1e6;         // of these kernels together

/// How often kernels run in one execution.
class Counter {
 public:
  explicit Counter(size_t kernels) : runs_(kernels, 0), in_loop_(kernels, false), users_(kernels) {}

  void Count(const Sequence& sequence, double times, bool in_loop) {
    for (const auto& step : sequence) {
      if (const int32_t kernel = step->call.kernel; kernel >= 0) {
        const auto k = static_cast<size_t>(kernel);
        runs_[k] += times * static_cast<double>(step->KernelRuns());
        users_[k] = step->instruction;
        if (in_loop) in_loop_[k] = true;
      }
      const bool loop = step->kind == StepKind::While;
      // Loops without known end may run forever.
      std::optional<int64_t> trips = 1;
      if (loop) trips = step->Trips();
      const double inside =
          trips ? times * static_cast<double>(*trips) : std::numeric_limits<double>::infinity();
      for (const Sequence& part : step->parts) Count(part, inside, in_loop || loop);
    }
  }
  [[nodiscard]] double Runs(size_t kernel) const { return runs_[kernel]; }
  [[nodiscard]] const Instruction& User(size_t kernel) const { return *users_[kernel]; }
  [[nodiscard]] bool InLoop(size_t kernel) const { return in_loop_[kernel]; }

 private:
  std::vector<double> runs_;
  std::vector<bool> in_loop_;
  std::vector<const Instruction*> users_;
};

std::string Duration(double nanoseconds) {
  if (std::isinf(nanoseconds)) return "any time";
  return nanoseconds < 1e6 ? llvm::formatv("{0:F1} us", nanoseconds * 1e-3).str()
                           : llvm::formatv("{0:F1} ms", nanoseconds * 1e-6).str();
}

}  // namespace

Status ChooseTiers(Program& program, const CpuOptions& options) {
  KernelTable& kernels = program.kernels;
  const bool asked = !options.cpu.empty() || !options.features.empty();  // for code of a certain kind
  const bool forced = options.tier == Tier::Interpret;
  if (options.tier == Tier::Compile) return {};
  if (!forced && (asked || options.executions >= CpuOptions::kManyExecutions)) return {};
  Counter counter(kernels.size());
  counter.Count(program.entry, static_cast<double>(options.executions), false);
  std::vector<std::optional<tile::Program>> programs(kernels.size());
  std::vector<double> takes(kernels.size(), 0);
  double sum = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const double runs = counter.Runs(i);
    if (!forced && std::isinf(runs)) {
      takes[i] = sum = runs;
      continue;
    }
    const KernelEntry& entry = kernels.At(static_cast<int32_t>(i));
    auto made = tile::Program::Make(entry.kernel);
    if (!made && forced)
      return Error("unsupported-op", counter.User(i).loc(), "%{0} cannot be interpreted: {1}",
                   counter.User(i).name(), made.error().message);
    takes[i] = !made ? std::numeric_limits<double>::infinity() : runs * made->Nanoseconds();
    if (made) programs[i] = std::move(*made);
    sum += takes[i];
  }
  const bool whole = forced || sum <= kWholeProgram;
  double mixed = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    KernelEntry& entry = kernels.At(static_cast<int32_t>(i));
    const bool small = takes[i] <= kOneKernel && !counter.InLoop(i) && mixed + takes[i] <= kMixed;
    if (whole || small) {
      if (!whole) mixed += takes[i];
      entry.program = std::make_unique<tile::Program>(std::move(*programs[i]));
      entry.why = forced ? "--tier" : "takes about " + Duration(takes[i]);
    } else {
      entry.why = "interpreted it would take " + Duration(takes[i]);
    }
  }
  return {};
}

}  // namespace hlo::cpu
