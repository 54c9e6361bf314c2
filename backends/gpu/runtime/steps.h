// What steps do, by kind.
#pragma once
#include "backends/gpu/runtime/program.h"

namespace hlo::gpu {

/// The result is the operand, byte for byte.
bool IsCopy(const Step& step);
std::unique_ptr<StepRunner> LoadCopy(const Step& step);
/// Launches a kernel of the program's table.
std::unique_ptr<StepRunner> LoadKernel(const Step& step, const KernelTable& kernels);
/// Launches a kernel of several steps, or runs these where somebody wants to know of each.
std::unique_ptr<StepRunner> LoadTurns(const Step& step, const KernelTable& kernels);
/// Has a library do it, where one knows of it and a run has a plan for it; else the step is `otherwise`.
std::unique_ptr<StepRunner> LoadLibrary(const Step& step, std::unique_ptr<StepRunner> otherwise);
/// The plans of what libraries do of a program on the GPU that calls are for. Errors: where libraries are
/// named, unavailable-library and runtime-gpu; else they are remarks, at most one of each library, for
/// `report`.
Result<LibraryPlans> PlanLibraries(const Program& program, const LibraryOptions& options,
                                   const LentDriver* lent, llvm::function_ref<void(Diagnostic)> report);
/// Runs the body as long as the condition leaves true: the host looks each time.
std::unique_ptr<StepRunner> LoadWhile(const Step& step);
/// Runs the branch that is chosen, which the host looks up; as ops-structured says for selectors out of
/// range.
std::unique_ptr<StepRunner> LoadConditional(const Step& step);
/// Runs the steps that it is made of.
std::unique_ptr<StepRunner> LoadCall(const Step& step);
/// The operands come to the host, the evaluator computes the instruction, and its results go to the GPU.
std::unique_ptr<StepRunner> LoadHost(const Step& step);

}  // namespace hlo::gpu
