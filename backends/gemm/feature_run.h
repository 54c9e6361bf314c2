// Convolutions of few features per group, lanes over the features of several groups.
#pragma once
#include "backends/gemm/kernels.h"
#include "backends/gemm/problem.h"

namespace hlo::gemm {

/// True if the features of a group are neighbours on all sides, groups too, and few enough for vectors to
/// hold those of several groups.
bool IsFeaturewise(const Problem& problem, const KernelSet& kernels);

/// Computes such a problem. Zeros beyond the ends of the input are multiplied.
void RunFeaturewise(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                    void* out);

}  // namespace hlo::gemm
