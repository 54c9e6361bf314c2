// Steps that move bytes.
#pragma once
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// The result is the operand, byte for byte.
bool IsCopy(const Step& step);
std::unique_ptr<StepRunner> LoadCopy(const Step& step, Program& program);

}  // namespace hlo::cpu
