// Orders in which the instructions of a module can run (passes.md §5.7).
#pragma once
#include "passes/analysis/live_range.h"

namespace hlo {

enum class ScheduleAlgorithm : uint8_t {
  Default,    // the one of List, Dfs, PostOrder with the smallest peak, the first of equals
  List,       // what frees most bytes first
  Dfs,        // operands with many users and bytes first
  PostOrder,  // as printed
  Bfs,        // whatever is ready, in the order of becoming so: the widest
};
/// The spelling of the option: DEFAULT, LIST, DFS, POST_ORDER, BFS.
llvm::StringRef ToString(ScheduleAlgorithm algorithm);
std::optional<ScheduleAlgorithm> ParseScheduleAlgorithm(llvm::StringRef text);

/// A legal order of every computation but the bodies of fusions. Deterministic.
Schedule MakeSchedule(const Module& module, ScheduleAlgorithm algorithm);

/// What Default compares: peak bytes of each algorithm it tried, in its order.
struct ScheduleChoice {
  Schedule schedule;
  ScheduleAlgorithm algorithm = ScheduleAlgorithm::Default;
  llvm::SmallVector<std::pair<ScheduleAlgorithm, MemoryPeak>, 3> tried;
};
ScheduleChoice ChooseSchedule(const Module& module, ScheduleAlgorithm algorithm);

}  // namespace hlo
