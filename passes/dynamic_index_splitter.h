// dynamic-index-splitter: dynamic slices take scalar indices (passes.md §2.1).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: the vector of start indices of a dynamic-slice or dynamic-update-slice becomes one scalar per
// dimension; those of scalars become their operand or update.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDynamicIndexSplitter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
