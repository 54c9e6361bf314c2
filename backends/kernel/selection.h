// Reductions that select: argmax and the like.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// A combiner of two values that hands on those of one side: the one whose first value is larger (or
/// smaller), of two that are equal the one whose second value, an integer, is smaller (or larger). Without
/// NaN, zeros of both signs and subnormals, which comparisons take as zeros, it finds the same in every
/// order.
struct Selection {
  bool smallest = false, smallest_index = true;
};

/// What a reduce selects, if that is what it does.
std::optional<Selection> FindSelection(const ReduceStmt& reduce, const Kernel& kernel);

/// Whether lanes may fold into partial results: ReductionOp() or FindSelection(). What selects gives the
/// results of folding in order all the same.
bool HasPartialResults(const ReduceStmt& reduce, const Kernel& kernel);

}  // namespace hlo::kernel
