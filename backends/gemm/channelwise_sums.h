// Sums over many positions channel by channel: gradients by the weights of convolutions of few features per
// group.
#pragma once
#include "backends/gemm/kernels.h"
#include "backends/gemm/problem.h"

namespace hlo::gemm {

/// True if rows are images next to each other in memory, as many as columns, for each of several groups,
/// which are neighbours, too: each channel is multiplied by those near it.
bool IsSumOfNeighbours(const Problem& problem);

/// True if a problem that goes channel by channel has so many steps for so few rows that its sums are cut
/// into parts, rather than its rows.
bool HasLongSums(const Problem& problem);

/// Computes such a problem, for which there are kernels (VisitFactors).
void RunChannelwiseSums(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                        void* out);

}  // namespace hlo::gemm
