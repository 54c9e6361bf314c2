// Products of single rows and columns whose batches lie side by side: depthwise convolutions.
#pragma once
#include "backends/gemm/kernels.h"
#include "backends/gemm/problem.h"

namespace hlo::gemm {

/// True if each batch has one column and the batches are neighbours in all three arrays.
bool IsChannelwise(const Problem& problem);

/// Computes a channelwise problem, lanes over batches.
void RunChannelwise(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                    void* out);

}  // namespace hlo::gemm
