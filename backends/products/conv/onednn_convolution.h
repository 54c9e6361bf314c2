// Convolutions that oneDNN computes, faster than the other ways where they are large and of plain forms.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// Two-dimensional convolutions of F32 and BF16 whose features are neighbours, large enough to be worth
/// making ready (backends/cpu/MEASUREMENTS.md).
Fit FitOnednn(const Problem& problem, const Target& target);

/// The library is loaded and asked when it is needed first, or when there is time for it before (Prepare).
std::unique_ptr<Plan> PlanOnednn(Problem problem, const Target& target);

}  // namespace hlo::gemm
