// What a program needs of memory.
#pragma once
#include "backends/memory_plan.h"
#include "ir/module.h"

namespace hlo::cpu {

/// The plan of a module that Prepare() made ready; it points to the module's instructions. `module` must be
/// one that BuildProgram() took.
MemoryPlan PlanMemory(const Module& module);

}  // namespace hlo::cpu
