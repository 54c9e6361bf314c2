// Sums across memory in the order of memory.
#pragma once
#include "backends/kernel/kernel.h"
#include "backends/kernel/target.h"

namespace hlo::kernel {

/// Has loops that add up columns of large arrays (Target::Caches) go through a few rows after the other, with
/// the sums of all columns, or as many as are at hand, in a local buffer: column after
/// column would read a little of each row, in the whole array, which memory is slow at. Only where loops
/// around leave work for several threads. Before a schedule is applied. Returns how many loops it changed.
int64_t FoldByRows(Kernel& kernel, const Target& target);

/// Whether the reduce folds a few rows into what a loop has folded before; its vectors need no strips.
bool FoldsRowBlock(const ReduceStmt& reduce, const Region& around);

}  // namespace hlo::kernel
