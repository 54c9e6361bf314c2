// dot_dimension_sorter: contracting dimensions of dots in memory order (passes.md §2.1).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: pairs of contracting dimensions change places where this makes those of more operands ascend, so
// that fewer transposes are needed later. Left alone: everything else.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDotDimensionSorter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
