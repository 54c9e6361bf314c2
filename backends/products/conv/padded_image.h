// Images copied with zeros around for windows that reach beyond them.
#pragma once
#include "backends/products/common/kernels.h"
#include "backends/products/common/problem.h"
#include "ir/support/buffer.h"

namespace hlo::gemm {

/// Operands of a convolution in the type of its sums, whose features are neighbours, and how it is computed
/// with them: no window reaches beyond the image.
template <class T>
struct StagedImage {
  Problem problem;
  Buffer<T> image, weights;
};

/// What windows read many times and would have to be widened, or its ends looked for, each time.
bool GainsByStaging(const Problem& problem);

/// Demands GainsByStaging(), and features of the image and of weights that are neighbours. T is the type of a
/// number of the sums.
template <class T>
StagedImage<T> StageImage(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs);

}  // namespace hlo::gemm
