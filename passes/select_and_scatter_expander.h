// select_and_scatter_expander: select-and-scatter as reduce-window and scatter (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: select-and-scatter becomes a reduce-window over the operand and the numbers of its elements that
// finds the selected element of each window, and a scatter of the source to these places. Exact. Left alone:
// scalars, select computations of other types than the operand's, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunSelectAndScatterExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
