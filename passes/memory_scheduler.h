// hlo-memory-scheduler, hlo-trivial-scheduler, hlo-descheduler: giving and taking schedules (passes.md §5.7).
//
// Require nothing. Preserve all other facts.
// Change: the order of the instructions of every computation but the bodies of fusions, and is_scheduled.
//  - hlo-memory-scheduler looks for an order that needs little memory; an existing schedule is replaced.
//    Its counters are the peaks, in bytes, of the orders it tried. Peaks of modules whose computations have
//    several callers are estimates: each counts for its first call.
//  - hlo-trivial-scheduler takes the printed order; scheduled modules are left alone.
//  - hlo-descheduler drops the schedule.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct MemorySchedulerOptions {
  std::string algorithm = "DEFAULT";  // DEFAULT, LIST, DFS, POST_ORDER, BFS
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunMemoryScheduler(Module& module, const MemorySchedulerOptions& options, PassContext& context);
Result<bool> RunTrivialScheduler(Module& module, const NoPassOptions& options, PassContext& context);
Result<bool> RunDescheduler(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
