// Gradients in bytes by the weights of convolutions of planes of one feature, such as depthwise ones in the
// order NCHW.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// Each result is a sum over planes, lines of which are neighbours in both operands, for up to three shifts
/// of a line.
Fit FitPlaneGradient(const Problem& problem, const Target& target);

/// Computes such a problem. Zeros beyond the ends of the input are multiplied.
void RunPlaneGradient(const Problem& problem, const void* lhs, const void* rhs, void* out);

}  // namespace hlo::gemm
