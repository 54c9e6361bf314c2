// Products of BF16 numbers and of 8-bit integers by groups of steps.
#pragma once
#include <optional>

#include "backends/products/common/vnni_kernels.h"
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// What a problem multiplies, if that has groups.
std::optional<GroupKind> GroupKindOf(const Problem& problem);
/// The same if it is large enough to be worth it.
std::optional<GroupKind> GroupKindFor(const Problem& problem);

/// A problem of a kind that the target multiplies by groups, large enough to be worth it.
Fit FitGroups(const Problem& problem, const Target& target);

/// The best that a machine has for products of a kind; null: nothing.
const GroupKernels* GroupKernelsFor(GroupKind kind, const Target& target);

/// Computes a problem of that kind. `blocks`: its steps, cut in pieces of at most kGroupDepthBytes.
void RunGroups(const Problem& problem, GroupKind kind, const GroupKernels& groups,
               const std::vector<Block>& blocks, const KernelSet& kernels, const void* lhs, const void* rhs,
               void* out);

/// The same for some rows of the result, in the calling thread.
void RunGroupRows(const Problem& problem, GroupKind kind, const GroupKernels& groups,
                  const std::vector<Block>& blocks, const KernelSet& kernels, const Rows& rows,
                  const void* lhs, const void* rhs, void* out);

/// Bytes of a row of steps that are multiplied at a time; windows of nine taps over 64 BF16 numbers are some.
inline constexpr int64_t kGroupDepthBytes = 1024, kWindowDepthBytes = 1280;

}  // namespace hlo::gemm
