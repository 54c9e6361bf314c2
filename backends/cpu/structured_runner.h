// What runs ops by loops of their own, wherever code is made or only run.
#pragma once
#include "backends/cpu/frame.h"
#include "backends/structured/plan.h"

namespace hlo::cpu {

/// Runs a plan of the step's instruction. `step` outlives the runner.
std::unique_ptr<StepRunner> MakeStructuredRunner(const Step& step, PointerList& pointers,
                                                 structured::Plan plan);

}  // namespace hlo::cpu
