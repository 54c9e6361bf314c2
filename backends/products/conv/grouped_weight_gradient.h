// Sums over many positions channel by channel: gradients by the weights of convolutions of few features per
// group.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// True if rows are images next to each other in memory for each of several groups, which are neighbours, as
/// columns are: each feature of a group is multiplied by each of the same group of the other side.
bool IsSumOfGroups(const Problem& problem);

/// Such problems, or those of FitChannelwise(), with so many steps for so few rows that sums are cut into
/// parts rather than rows.
Fit FitChannelwiseSums(const Problem& problem, const Target& target);

/// Computes such a problem.
void RunChannelwiseSums(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                        void* out);

}  // namespace hlo::gemm
