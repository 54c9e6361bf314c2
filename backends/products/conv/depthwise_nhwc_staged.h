// Convolutions of groups of one feature whose features are neighbours, such as depthwise ones in the order
// NHWC.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// Each result is made of one feature of the image, and they fill vectors on both sides.
Fit FitLanes(const Problem& problem, const Target& target);

/// Whether it suits.
bool IsOfLanes(const Problem& problem, const Target& target);

/// Whether it does so for long lines of floats, which are read where they lie: as fast as a library.
bool IsOfLongLines(const Problem& problem, const Target& target);

/// Computes such a problem. Zeros beyond the ends of the input are multiplied.
void RunOfLanes(const Problem& problem, const void* lhs, const void* rhs, void* out);

}  // namespace hlo::gemm
