// Convolutions of planes of one feature, such as depthwise ones of images in the order NCHW.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// Each result is made of one plane, lines of which are neighbours, by few taps with steps of 1 or 2.
Fit FitPlanes(const Problem& problem, const Target& target);

/// Computes such a problem. Zeros beyond the ends of the input are multiplied.
void RunOfPlanes(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                 void* out);

}  // namespace hlo::gemm
