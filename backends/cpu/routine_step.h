// Steps as one compiled function: loops whose steps are all small, or whole programs.
#pragma once
#include "backends/cpu/program.h"
#include "backends/cpu/routine_builder.h"

namespace hlo::cpu {

/// Has each outermost loop of `sequence` that can be a routine run as one. What it does step by step stays
/// with its step.
void MakeRoutines(Program& program, Sequence& sequence);
/// The same for the loops that say they are routines; false if one cannot be.
bool LoadRoutines(Program& program, Sequence& sequence);

}  // namespace hlo::cpu
