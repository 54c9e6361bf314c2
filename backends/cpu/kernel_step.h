// Steps that run compiled kernels.
#pragma once
#include "backends/cpu/program.h"

namespace hlo::cpu {

std::unique_ptr<StepRunner> LoadKernel(const Step& step, Program& program);

}  // namespace hlo::cpu
