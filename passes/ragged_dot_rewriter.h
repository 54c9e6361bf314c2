// ragged_dot_rewriter: ragged-dot as dot and masks (passes.md §2.3, ops-structured §3.2).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: with a ragged free dimension, a dot with all groups, of which each row keeps its own; with a
// ragged contracting dimension, a dot per group of operands that are zero outside it; with a ragged batch
// dimension, a dot. What no group covers becomes zero. Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunRaggedDotRewriter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
