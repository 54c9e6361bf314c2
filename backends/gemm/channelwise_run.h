// Products of single rows and columns whose batches lie side by side: depthwise convolutions.
#pragma once
#include "backends/gemm/kernels.h"
#include "backends/gemm/problem.h"

namespace hlo::gemm {

/// True if each batch has one column, the batches are neighbours in all three arrays, and there are kernels.
bool IsChannelwise(const Problem& problem, const KernelSet& kernels);

/// Computes a channelwise problem, lanes over batches.
void RunChannelwise(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                    void* out);

}  // namespace hlo::gemm
