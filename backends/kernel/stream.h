// Which stores go past the caches.
#pragma once
#include "backends/kernel/kernel.h"
#include "backends/kernel/target.h"

namespace hlo::kernel {

/// Marks the stores that write a large buffer from end to end, if the buffer begins at a line of
/// memory: that is then written without being read first. Returns how many. After a schedule was applied.
int64_t StreamStores(Kernel& kernel, BufferId buffer, const Target& target);

}  // namespace hlo::kernel
