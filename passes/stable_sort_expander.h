// stable-sort-expander: makes the position part of what is sorted (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: a sort with is_stable=true becomes one without, whose comparator decides between elements that
// stand in either order by an s32 iota along the dimension: an operand that is one, or one more operand.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunStableSortExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
