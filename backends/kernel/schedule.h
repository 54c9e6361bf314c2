// How the loops of a kernel are run: as data, applied by changing the kernel's dimensions.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// What a machine is good at.
struct ScheduleTarget {
  int32_t width = 16;      // lanes of a vector, whatever the element type
  int32_t unroll = 4;      // vectors in flight in cheap bodies
  int64_t min_vector = 4;  // loops shorter than this stay scalar
};

/// Makes one loop of two nested ones wherever every address treats them as one. Returns how many.
int64_t MergeLoops(Kernel& kernel);

/// Chooses the loops that become vectors (innermost, or the folded dimension of a reduction that runs along
/// memory) and lets the outermost run in pieces. Depends on the kernel and the target only.
void ScheduleLoops(Kernel& kernel, const ScheduleTarget& target);

}  // namespace hlo::kernel
