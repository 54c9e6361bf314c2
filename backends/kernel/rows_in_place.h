// Kernels that may write an array over one that they read.
#pragma once
#include "backends/kernel/schedule.h"

namespace hlo::kernel {

/// Whether the kernel, whose loops nothing has changed yet but MergeLoops(), may write `out` over `in` when
/// `schedule`, one for blocks and threads, has been applied: there are rows, each of them an iteration of
/// loops around all that touches either array, that read only what they write themselves; whatever is read
/// of a row but the very element that is written next is folded before the row is written; and whoever
/// shares a row waits for the others' folds.
bool MayWriteOver(const Kernel& kernel, const Schedule& schedule, BufferId in, BufferId out);

}  // namespace hlo::kernel
