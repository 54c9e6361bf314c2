// From HLO to Kernel IR.
#pragma once
#include "backends/kernel/fold_order.h"
#include "backends/kernel/kernel.h"
#include "backends/kernel/target.h"
#include "ir/computation.h"

namespace hlo::kernel {

/// A kernel that computes a fused computation. Its buffers: the parameters in order (arrays), then the
/// outputs (the root, or the elements of the root tuple).
struct LoweredKernel {
  Kernel kernel;
  /// Pairs (output number, parameter number): the kernel writes parts of the output only; the others are
  /// those of the parameter, which must lie in the same bytes when the kernel starts.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 1> in_place;
  /// What it folds in order without a reduce.
  Folds written_out;
};

/// The backend_config of a fold in a fused computation that others compute, too: it keeps its order.
inline constexpr llvm::StringLiteral kInOrder = "{\"fold\":\"in_order\"}";

/// The backend_config of a sort of rows that rise once and fall once, wherever they begin (bitonic rows), as
/// the first stages of a merge leave them: a kernel of it has the last stages only.
inline constexpr llvm::StringLiteral kMerge = "{\"sort\":\"merge\"}";

/// Whether fused computations may contain the op, as far as its kind goes (some only as their root, or on
/// some machines).
bool HasLoops(OpKind kind);

/// Whether kernels have sums for the product, a dot or convolution: of numbers that they multiply as they
/// are, or as numbers of the result's type.
bool HasSums(const Instruction& product);

/// The direction in which a sort of one array of integers orders them by their numbers, LT or GT. Nothing: it
/// sorts something else, or by what its comparator computes.
std::optional<Direction> NumberOrder(const Instruction& sort);

/// Elements of the longest rows of a sort that a kernel sorts, each by a block of threads; 0: the machine has
/// none. `more`: bytes that go along with each element besides those of the operands.
int64_t LongestSortedRow(const Instruction& sort, const Target& target, int64_t more = 0);

/// Declines, naming the instruction that has no loops yet and why.
Result<LoweredKernel> Lower(const Computation& fused, llvm::StringRef name, const Target& target);

}  // namespace hlo::kernel
