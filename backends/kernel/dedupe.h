// Values that are computed twice for the same indices.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// Leaves one of all statements that compute the same of the same values, where it is visible; returns how
/// many went. Loads count where nobody writes the buffer.
int64_t RemoveDuplicates(Kernel& kernel);

}  // namespace hlo::kernel
