// Gradients by the weights of depthwise convolutions whose windows step by one or two.
#pragma once
#include "backends/gemm/kernels.h"
#include "backends/gemm/problem.h"

namespace hlo::gemm {

/// Of problems that IsChannelwise() takes, with sums that are long: three shifts along lines of neighbouring
/// positions.
bool IsSumOfLines(const Problem& problem, const KernelSet& kernels);

/// Computes such a problem. Multiplies no zeros beyond the ends of the input.
void RunSumOfLines(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                   void* out);

}  // namespace hlo::gemm
