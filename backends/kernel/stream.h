// Which stores go past the caches.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// Marks the stores that write a large buffer from end to end, if the buffer begins at a multiple of 64
/// bytes: memory is then written without being read first. Returns how many. After a schedule was applied.
int64_t StreamStores(Kernel& kernel, BufferId buffer);

}  // namespace hlo::kernel
