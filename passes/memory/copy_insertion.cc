#include "passes/memory/copy_insertion.h"

#include "passes/memory/copy_adder.h"
#include "passes/memory/copy_remover.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/flatten_calls.h"

namespace hlo {
namespace {

/// The schedules of a module, out of the way while instructions come and go.
class ScheduleKeeper {
 public:
  explicit ScheduleKeeper(Module& module) {
    for (const auto& computation : module.computations()) {
      if (!computation->has_schedule()) continue;
      const auto& order = computation->schedule();
      kept_.push_back({computation.get(), {order.begin(), order.end()}});
      computation->set_schedule({});
    }
  }
  ~ScheduleKeeper() {
    for (const auto& [computation, order] : kept_)
      computation->set_schedule(RepairedSchedule(*computation, order));
  }
  ScheduleKeeper(const ScheduleKeeper&) = delete;
  ScheduleKeeper& operator=(const ScheduleKeeper&) = delete;

  /// With the instructions added since.
  [[nodiscard]] Schedule Current() const {
    Schedule schedule;
    for (const auto& [computation, order] : kept_)
      schedule[computation] = RepairedSchedule(*computation, order);
    return schedule;
  }

 private:
  std::vector<std::pair<Computation*, std::vector<const Instruction*>>> kept_;
};

/// Removes what copies it can and tells which; only their addresses mean something.
Result<llvm::DenseSet<const Instruction*>> RemoveCopies(Module& module, const CopyAdder& adder,
                                                        const Schedule& schedule, PassContext& context) {
  const CallGraph calls(module);
  const Dataflow flow(module, calls);
  const Timeline timeline(flow, schedule);
  const auto kind = module.config.is_scheduled ? Ordering::Kind::Sequential : Ordering::Kind::Dependency;
  const Ordering ordering(flow, timeline, kind);
  CopyRemover remover(ordering, context);
  HLO_CHECK_OK(remover.Choose(adder.copies()));
  llvm::DenseSet<const Instruction*> removed(remover.chosen().begin(), remover.chosen().end());
  remover.Remove();
  return removed;
}

}  // namespace

Result<bool> RunCopyInsertion(Module& module, const NoPassOptions&, PassContext& context) {
  HLO_TRY(bool changed, FlattenCalls(module, context));
  if (!module.entry() || !CallGraph(module).IsFlat() || !context.TakeRewrite()) return changed;
  const ScheduleKeeper schedules(module);
  const CallGraph calls(module);
  const Dataflow flow(module, calls);
  CopyAdder adder(module, flow);
  adder.Run();
  HLO_CHECK_OK(context.CheckInterrupt());
  HLO_TRY(const auto removed, RemoveCopies(module, adder, schedules.Current(), context));
  adder.RestoreTuples();
  adder.RemoveDead(removed);
  size_t kept = 0;
  for (const Instruction* copy : adder.copies()) kept += removed.contains(copy) ? 0 : 1;
  const size_t old_removed = removed.size() + kept - adder.copies().size();
  context.Count("copies_added", static_cast<int64_t>(kept));
  context.Count("copies_removed", static_cast<int64_t>(old_removed));
  changed |= old_removed > 0 || adder.merged_elements() || kept > 0;
  if (module.config.is_scheduled) return changed;
  HLO_TRY(const bool smaller, RemoveDeadCode(module, context));
  return changed || smaller;
}

HLO_DEFINE_PASS(CopyInsertion, NoPassOptions);

}  // namespace hlo
