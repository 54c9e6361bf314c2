// Products of single rows and columns whose batches lie side by side: depthwise convolutions.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// Each batch has one column, the batches are neighbours in all three arrays, and there are kernels.
Fit FitChannelwise(const Problem& problem, const Target& target);
/// The former.
bool AreBatchesSideBySide(const Problem& problem);
/// The latter.
bool HasChannelwiseKernels(const Problem& problem, const KernelSet& kernels);

/// Computes a channelwise problem, lanes over batches.
void RunChannelwise(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                    void* out);

}  // namespace hlo::gemm
