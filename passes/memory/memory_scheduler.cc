// hlo-memory-scheduler, hlo-trivial-scheduler, hlo-descheduler: giving and taking schedules (passes.md §5.7).
//
// Require nothing. Preserve everything. The schedule is theirs to give and take.
// Change: the order of the instructions of every computation but the bodies of fusions, and is_scheduled.
//  - hlo-memory-scheduler looks for an order that needs little memory; an existing schedule is replaced.
//    Its counters are the peaks, in bytes, of the orders it tried. Peaks of modules whose computations have
//    several callers are estimates: each counts for its first call.
//  - hlo-trivial-scheduler takes the printed order; scheduled modules are left alone.
//  - hlo-descheduler drops the schedule.
#include "passes/analysis/schedule.h"
#include "passes/pass.h"

namespace hlo {
namespace {

struct MemorySchedulerOptions {
  std::string algorithm = "DEFAULT";  // DEFAULT, LIST, DFS, POST_ORDER, BFS
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&MemorySchedulerOptions::algorithm>(
        "algorithm", "LIST, DFS, POST_ORDER, BFS, or DEFAULT: the least peak of the first three"),
};

/// Gives every computation its order; true if one had another.
bool Install(Module& module, Schedule& schedule) {
  bool changed = !module.config.is_scheduled;
  for (const auto& computation : module.computations()) {
    const auto it = schedule.find(computation.get());
    if (it == schedule.end() || computation->schedule() == it->second) continue;
    computation->set_schedule(std::move(it->second));
    changed = true;
  }
  module.config.is_scheduled = true;
  return changed;
}

llvm::ArrayRef<PassOptionRow> MemorySchedulerOptions::Rows() { return kRows; }

Result<bool> RunMemoryScheduler(Module& module, const MemorySchedulerOptions& options, PassContext& context) {
  const auto algorithm = ParseScheduleAlgorithm(options.algorithm);
  if (!algorithm)
    return Error(
        "usage-pass-option", {},
        "option 'algorithm' of pass 'hlo-memory-scheduler': found '{0}', expected DEFAULT, LIST, DFS, "
        "POST_ORDER or BFS",
        options.algorithm);
  HLO_CHECK_OK(context.CheckInterrupt());
  if (!context.TakeRewrite()) return false;
  ScheduleChoice choice = ChooseSchedule(module, *algorithm);
  for (const auto& [tried, peak] : choice.tried)
    context.Count(ToString(tried).lower() + "_peak_bytes", peak.bytes);
  return Install(module, choice.schedule);
}

Result<bool> RunTrivialScheduler(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  if (module.config.is_scheduled || !context.TakeRewrite()) return false;
  Schedule schedule = MakeSchedule(module, ScheduleAlgorithm::PostOrder);
  return Install(module, schedule);
}

Result<bool> RunDescheduler(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  const bool scheduled = module.config.is_scheduled ||
                         llvm::any_of(module.computations(),
                                      [](const auto& computation) { return computation->has_schedule(); });
  if (!scheduled || !context.TakeRewrite()) return false;
  for (const auto& computation : module.computations()) computation->set_schedule({});
  module.config.is_scheduled = false;
  return true;
}

}  // namespace

HLO_DEFINE_PASS(MemoryScheduler, MemorySchedulerOptions);
HLO_DEFINE_PASS(TrivialScheduler, NoPassOptions);
HLO_DEFINE_PASS(Descheduler, NoPassOptions);

}  // namespace hlo
