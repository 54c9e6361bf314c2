// Kernels that one launch runs side by side: a fusion of fusions that are kernels of loops each,
// backend_config={"kernel":{"path":"side_by_side"}}. They read parameters of the fused computation and are
// its results.
#pragma once
#include "backends/compile/kernel_plans.h"

namespace hlo::compile {

/// One of them, and where its results are among those of all.
struct SideBySidePart {
  const Instruction* fusion = nullptr;
  llvm::SmallVector<int64_t, 2> outputs;
};
/// In the order in which blocks are dealt to them. Errors: unsupported-kernel.
Result<std::vector<SideBySidePart>> PartsOf(const Instruction& fusion);

/// Whether a kernel that is planned may be one of them.
bool MayBeSideBySide(const KernelPlan& plan);

/// The plan of all, whose own are made by `plan`. Errors: unsupported-kernel; those of `plan`.
Result<KernelPlan> PlanSideBySide(const Instruction& fusion, const Machine& machine,
                                  llvm::function_ref<Result<KernelPlanPtr>(const Instruction& part)> plan);

}  // namespace hlo::compile
