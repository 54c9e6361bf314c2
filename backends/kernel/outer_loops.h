// Loops around a kernel that its caller runs.
#pragma once
#include <optional>

#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// A loop that was taken off a kernel: iteration i is the kernel with the pointer of each buffer moved by
/// i * stride elements.
struct OuterLoop {
  int64_t extent = 1;
  llvm::SmallVector<int64_t, 8> strides;  // by buffer
  bool operator==(const OuterLoop&) const = default;
};

/// Takes loops off the outside of `kernel` as long as what neighbouring iterations store in `output` lies
/// more than `distance` elements apart; outermost first. Nothing, with `kernel` spoilt, if such a loop does
/// more than to move through arrays. Before a schedule is applied.
std::optional<llvm::SmallVector<OuterLoop, 2>> TakeOuterLoops(Kernel& kernel, BufferId output,
                                                              int64_t distance);

/// True if iteration i of the only outermost loop touches of a buffer no more than elements
/// [i * count, (i + 1) * count).
bool KeepsToRows(const Kernel& kernel, BufferId buffer, int64_t count);

}  // namespace hlo::kernel
