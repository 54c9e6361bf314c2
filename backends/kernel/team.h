// Rows that the threads of a block, or the lanes of a warp, work on together.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// How many threads share a row, how many neighbours each takes at once, and whether each keeps what it read
/// of the row for those that go over it again. `across`: rows lie side by side, and so do the threads of
/// several teams that take the same elements of theirs.
struct Team {
  int64_t threads = 1, width = 1;
  bool keep = false, across = false;
};
/// Lanes of a group at most; more threads hand each other values through shared arrays.
constexpr int64_t kTeamLanes = 32;

/// Has `threads` threads run an iteration of `loop`, which is bound, together: reductions in it, but for what
/// they fold in one order, and the loops that store are divided among them, element by element of what they
/// go through innermost; what is left is computed by all and stored by the first. `across`: the loop is bound
/// to thread.x, and whole. Errors: kernel-schedule, with the kernel spoilt.
Status ShareRow(Kernel& kernel, LoopStmt& loop, const Team& team);

/// Whether a team can fold it.
bool MayBeShared(const ReduceStmt& reduce, const Kernel& kernel);

}  // namespace hlo::kernel
