// Gradients in floats by the weights of convolutions of planes of one feature, such as depthwise ones in the
// order NCHW.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// Each result is a sum over planes of two dimensions, lines of which are neighbours in both operands, for up
/// to three shifts of lines and in them.
Fit FitFloatGradient(const Problem& problem, const Target& target);

/// Computes such a problem. Zeros beyond the ends of the input do not meet anything along lines that are not
/// there, but do so at the ends of lines.
void RunFloatGradient(const Problem& problem, const void* lhs, const void* rhs, void* out);

}  // namespace hlo::gemm
