// Convolutions of few features per group, lanes over the features of several groups.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// True if the features of a group are neighbours on all sides, groups too, and few enough for vectors to
/// hold those of several groups.
Fit FitFeaturewise(const Problem& problem, const Target& target);

/// Computes such a problem. Zeros beyond the ends of the input are multiplied.
void RunFeaturewise(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                    void* out);

}  // namespace hlo::gemm
