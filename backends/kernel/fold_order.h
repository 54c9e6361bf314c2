// One value however often it is computed: sums of the same elements in the same order.
#pragma once
#include "backends/kernel/kernel.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::kernel {

/// Arrays whose elements are sums or products of floats (reduces, windows, dots).
using Folds = llvm::DenseSet<const Instruction*>;

/// Of the arrays that a scheduled kernel computes in more than one place, those whose elements are not folded
/// in the same order everywhere: they would not have the same bits. `written_out`: arrays that it also folds,
/// in order, without a reduce.
Folds FoldsThatDiffer(const Kernel& kernel, const Folds& written_out);

/// Lets the kernel fold them in order. Before a schedule is chosen.
void KeepOrder(Kernel& kernel, const Folds& folds);

}  // namespace hlo::kernel
