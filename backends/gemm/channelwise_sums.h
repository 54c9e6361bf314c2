// Sums over many positions channel by channel: gradients by the weights of convolutions of few features per
// group.
#pragma once
#include "backends/gemm/kernels.h"
#include "backends/gemm/problem.h"

namespace hlo::gemm {

/// True if rows are images next to each other in memory for each of several groups, which are neighbours, as
/// columns are: each feature of a group is multiplied by each of the same group of the other side.
bool IsSumOfGroups(const Problem& problem);

/// True if a problem that goes channel by channel has so many steps for so few rows that its sums are cut
/// into parts, rather than its rows.
bool HasLongSums(const Problem& problem);

/// Computes such a problem, for which there are kernels (VisitFactors).
void RunChannelwiseSums(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                        void* out);

}  // namespace hlo::gemm
