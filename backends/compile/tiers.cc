#include "backends/compile/tiers.h"

#include "llvm/Support/FormatVariadic.h"

namespace hlo::compile {
namespace {

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
  constexpr double kMicrosecond = 1e3, kMillisecond = 1e6;
  return nanoseconds < kMillisecond ? llvm::formatv("{0:F1} us", nanoseconds / kMicrosecond).str()
                                    : llvm::formatv("{0:F1} ms", nanoseconds / kMillisecond).str();
}

}  // namespace

Result<std::vector<TierChoice>> ChooseTiers(const Program& program, size_t kernels,
                                            const Machine::Interpreting& limits, const TierOptions& options,
                                            InterpretedTime time) {
  Counter counter(kernels);
  counter.Count(program.entry, static_cast<double>(options.executions), false);
  std::vector<double> takes(kernels, 0);
  double sum = 0;
  for (size_t i = 0; i < kernels; ++i) {
    const double runs = counter.Runs(i);
    takes[i] = runs;
    if (options.interpret || !std::isinf(runs)) {
      const Result<double> once = time(i);
      if (!once && options.interpret)
        return Error("unsupported-op", counter.User(i).loc(), "%{0} cannot be interpreted: {1}",
                     counter.User(i).name(), once.error().message);
      takes[i] = once ? runs * *once : std::numeric_limits<double>::infinity();
    }
    sum += takes[i];
  }
  const bool whole = options.interpret || sum <= limits.program;
  std::vector<TierChoice> choices(kernels);
  double mixed = 0;
  for (size_t i = 0; i < kernels; ++i) {
    const bool small = takes[i] <= limits.kernel && !counter.InLoop(i) && mixed + takes[i] <= limits.kernels;
    choices[i].interpreted = whole || small;
    if (small && !whole) mixed += takes[i];
    choices[i].why = options.interpret        ? "--tier"
                     : choices[i].interpreted ? "takes about " + Duration(takes[i])
                                              : "interpreted it would take " + Duration(takes[i]);
  }
  return choices;
}

}  // namespace hlo::compile
