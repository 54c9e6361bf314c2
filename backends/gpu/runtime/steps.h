// What steps do, by kind.
#pragma once
#include "backends/gpu/runtime/program.h"

namespace hlo::gpu {

/// The result is the operand, byte for byte.
bool IsCopy(const Step& step);
std::unique_ptr<StepRunner> LoadCopy(const Step& step);
/// Launches a kernel of the program's table.
std::unique_ptr<StepRunner> LoadKernel(const Step& step, const KernelTable& kernels);
/// Runs the body as long as the condition leaves true: the host looks each time.
std::unique_ptr<StepRunner> LoadWhile(const Step& step);
/// Runs the branch that is chosen, which the host looks up; as ops-structured says for selectors out of
/// range.
std::unique_ptr<StepRunner> LoadConditional(const Step& step);
/// The operands come to the host, the evaluator computes the instruction, and its results go to the GPU.
std::unique_ptr<StepRunner> LoadHost(const Step& step);

}  // namespace hlo::gpu
