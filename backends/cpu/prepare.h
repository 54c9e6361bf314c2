// Brings a module into the form that programs are built from.
#pragma once
#include "backends/cpu/compile.h"
#include "ir/module.h"

namespace hlo::cpu {

/// Runs the backend's pipeline on `module`: calls inlined, simplified, scheduled, with copies that make the
/// buffer assignment legal; asynchronous operations become synchronous, layouts the default ones, bitcasts
/// reshapes and transposes.
Status Prepare(Module& module, const CpuOptions& options);

}  // namespace hlo::cpu
