// Steps that run other steps.
#pragma once
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// Runs the body as long as the condition leaves true.
std::unique_ptr<StepRunner> LoadWhile(const Step& step);
/// Runs the branch that is chosen; as ops-structured says for selectors out of range.
std::unique_ptr<StepRunner> LoadConditional(const Step& step);

}  // namespace hlo::cpu
