// Convolutions of few features per group, lanes over positions.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// True if the problem has windows over so few features that lanes are better filled with positions: of the
/// result, or for gradients of weights those of the window.
Fit FitWindowed(const Problem& problem, const Target& target);

/// Computes a windowed problem. Zeros beyond the ends of the input are multiplied.
void RunWindowed(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                 void* out);

}  // namespace hlo::gemm
