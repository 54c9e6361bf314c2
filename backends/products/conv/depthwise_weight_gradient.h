// Gradients by the weights of depthwise convolutions whose windows step by one or two.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// Of problems that FitChannelwiseSums() takes: three shifts along lines of neighbouring positions.
Fit FitSumOfLines(const Problem& problem, const Target& target);

/// Computes such a problem. Multiplies no zeros beyond the ends of the input.
void RunSumOfLines(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                   void* out);

}  // namespace hlo::gemm
