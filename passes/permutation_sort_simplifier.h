// permutation_sort_simplifier: sorting by a permutation as scatter (passes.md §2.3).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: an ascending sort of two vectors by the first one, when that one is what a sort made of an iota,
// so that its elements are 0, 1, 2, … in some order: the second vector is scattered to these places, and the
// first becomes the iota. Exact. Left alone: arrays of more dimensions, other comparators.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunPermutationSortSimplifier(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
