// scaled-dot-rewriter: scaled-dot as dot of scaled operands (passes.md §2.3, ops-structured §3.3).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: operands and scales are converted to f32 (f64 if one of them is), scales repeated to the size of
// their operands and multiplied; a dot of the products takes the place. Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunScaledDotRewriter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
