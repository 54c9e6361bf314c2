// What a program needs of memory.
#pragma once
#include "backends/memory_plan.h"
#include "passes/analysis/buffer_assignment.h"

namespace hlo::compile {

/// The plan of a module that a program was built of, with values placed as `options` say; it points to the
/// module's instructions.
MemoryPlan PlanMemory(const Module& module, const BufferOptions& options = {});

}  // namespace hlo::compile
