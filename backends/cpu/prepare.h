// Brings a module into the form that programs are built from.
#pragma once
#include "backends/cpu/compile.h"
#include "backends/cpu/machine.h"
#include "ir/module.h"

namespace hlo::cpu {

/// What programs cannot be built of: kernels and ways of the text that cannot be made, tuples of too many
/// levels.
Status CheckPrepared(const Module& module, const Machine& machine);

/// Runs the backend's pipeline (pipelines.def), or that of the options, on `module`: what comes out is
/// scheduled, has the copies that make the buffer assignment legal, and kernels as fusions (kernel_config.h).
Status Prepare(Module& module, const CpuOptions& options);

}  // namespace hlo::cpu
