// Sums in lanes that wait for themselves.
#pragma once
#include "backends/kernel/kernel.h"
#include "backends/kernel/target.h"

namespace hlo::kernel {

/// Gives long sums and products of floats, one in each lane of a vector or two, several partial results: one
/// addition after the other would wait for the one before. What is left of the iterations joins the first
/// ones; partial results are folded pairwise. Returns how many reductions it changed. After a schedule was
/// applied.
int64_t InterleaveSums(Kernel& kernel, const Target& target);

}  // namespace hlo::kernel
