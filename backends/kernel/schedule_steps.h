// What the sources of schedules share.
#pragma once
#include "backends/kernel/schedule.h"

namespace hlo::kernel {

template <class... Args>
tl::unexpected<Diagnostic> ScheduleError(const char* format, Args&&... args) {
  return Error("kernel-schedule", {}, format, std::forward<Args>(args)...);
}

/// How many of the loops of a step are new: the last ones.
size_t LoopsMade(ScheduleStep::Kind kind);

/// The loop statements `loops`, each directly in the one before, in `nest`; what stands between them moves
/// into the innermost. Errors: kernel-schedule, with the kernel spoilt.
Status MakePerfect(LoopStmt& top, llvm::ArrayRef<LoopId> loops, llvm::SmallVectorImpl<LoopStmt*>& nest);

/// Makes one loop `into` of a nest that is perfect.
Status FuseNest(Kernel& kernel, llvm::ArrayRef<LoopStmt*> nest, LoopId into);

/// Makes one loop `into` of all outermost loops, each of which holds a loop only; what comes before them
/// stays before.
Status JoinLoops(Kernel& kernel, llvm::ArrayRef<LoopId> loops, LoopId into);

/// Each loop that stands beside others, or beside what is stored, gets copies of the loops around it, so that
/// all outermost loops hold one thing each. Whether there were any; of a kernel that reads nothing it writes.
bool DistributeLoops(Kernel& kernel);
/// The same as a step. Errors: kernel-schedule, with the kernel as it was.
Status Distribute(Kernel& kernel, const ScheduleStep& step);

/// Long folds of a region that keep an order go in pieces that are written out: what a piece reads is under
/// way at once, and lies at numbers known before from its first element. New loops are numbered from `next`.
Schedule CutOrderedFolds(const Region& region, LoopId& next);

}  // namespace hlo::kernel
