// The figures of processors, for the passes of backends/compile, for Kernel IR and whoever weighs kernels.
#pragma once
#include "backends/compile/machine.h"

namespace hlo::cpu {

/// Those of the machine of MEASUREMENTS.md.
const compile::Machine& CpuMachine();
/// What Kernel IR asks of it.
const kernel::Target& KernelTarget();

}  // namespace hlo::cpu
