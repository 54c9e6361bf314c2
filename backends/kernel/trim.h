// Kernels see no more of an array than they touch.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// Cuts off what of an array lies before the first and behind the last element that the kernel may touch, so
/// that kernels that do the same at other places are equal: the kernel of one slice is that of all slices of
/// this size. Returns by buffer how many elements went in front; the caller's pointers must move by as many.
/// Arrays of up to `small` bytes stay as they are. Before a schedule is applied.
llvm::SmallVector<int64_t, 8> TrimBuffers(Kernel& kernel, int64_t small);

}  // namespace hlo::kernel
