// Gradients by weights in BF16 or bytes, words of neighbouring positions at a time: pairs or fours.
#pragma once
#include "backends/gemm/word_run.h"

namespace hlo::gemm {

/// Set if features are neighbours in both images and fill vectors, and the sums are long.
std::optional<WordWay> PositionWayFor(const Problem& problem, const Target& target);

/// Computes such a problem. Zeros beyond the ends of the input are multiplied.
void RunByPositions(const Problem& problem, const WordWay& way, const KernelSet& kernels, const void* lhs,
                    const void* rhs, void* out);

}  // namespace hlo::gemm
