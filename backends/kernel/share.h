// Values that neighbouring loops compute twice.
#pragma once
#include "backends/kernel/kernel.h"
#include "backends/kernel/target.h"

namespace hlo::kernel {

/// Where a loop computes again, for the same indices, an expensive value that a reduction or loop next to it
/// has computed, the first one stores it in a local buffer and the other loads it from there: a softmax takes
/// each exponential once. Before schedules are applied. Returns how many values are shared.
int64_t ShareBetweenLoops(Kernel& kernel, const Target& target);

}  // namespace hlo::kernel
