// Windows that make few features of many: lanes are features of the input, which lie side by side.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// True if windows make so few features, of groups of the features or of the batch, that they would leave
/// most lanes of vectors empty, and there are kernels.
Fit FitFewColumns(const Problem& problem, const Target& target);

/// Computes such a problem.
void RunFewColumns(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                   void* out);

}  // namespace hlo::gemm
