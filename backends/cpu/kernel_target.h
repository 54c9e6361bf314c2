// The figures of processors, for Kernel IR and whoever weighs kernels.
#pragma once
#include "backends/kernel/target.h"

namespace hlo::cpu {

/// Those of the machine of MEASUREMENTS.md.
const kernel::Target& KernelTarget();

}  // namespace hlo::cpu
