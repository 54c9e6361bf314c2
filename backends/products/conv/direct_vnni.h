// Convolutions of few features per group in BF16 or bytes, words of neighbouring features at a time.
#pragma once
#include "backends/products/common/vnni_kernels.h"
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// What multiplies the words of a problem, and what they are.
struct WordWay {
  const GroupKernels* kernels;
  GroupKind kind;
};

/// What a target has for the words of a problem.
std::optional<WordWay> WordWayOf(const Problem& problem, const Target& target);

/// Features of the input are neighbours, and fewer per group than are worth packing windows.
Fit FitWords(const Problem& problem, const Target& target);

/// Computes such a problem. Zeros beyond the ends of the input are multiplied.
void RunByWords(const Problem& problem, const WordWay& way, const KernelSet& kernels, const void* lhs,
                const void* rhs, void* out);

}  // namespace hlo::gemm
