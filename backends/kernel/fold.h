// What is known of a kernel before it runs.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// Computes integers and truth values of constants, puts them into addresses and masks, as it does sums of
/// loop variables within their bounds, leaves out what nobody uses, and numbers the values anew. Floating
/// point is left to the machine that runs the kernel.
void FoldConstants(Kernel& kernel);

}  // namespace hlo::kernel
