// Gradients by weights in BF16 or bytes, words of neighbouring positions at a time: pairs or fours.
#pragma once
#include "backends/products/conv/direct_vnni.h"

namespace hlo::gemm {

/// Features are neighbours in both images and fill vectors, and the sums are long.
Fit FitPositions(const Problem& problem, const Target& target);

/// Computes such a problem. Zeros beyond the ends of the input are multiplied.
void RunByPositions(const Problem& problem, const WordWay& way, const KernelSet& kernels, const void* lhs,
                    const void* rhs, void* out);

}  // namespace hlo::gemm
