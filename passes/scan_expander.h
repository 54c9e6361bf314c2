// scan_expander: scan as a loop (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: scan becomes a counted while loop that cuts a slice of each input, applies the body and stores a
// slice of each output. Exact. Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunScanExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
