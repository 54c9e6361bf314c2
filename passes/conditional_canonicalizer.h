// conditional-canonicalizer: conditionals take and give tuples (passes.md §2.1).
//
// Requires nothing. Preserves everything but the schedule, which is repaired.
// Changes: operands and results of conditionals that are no tuples become tuples of one element; a branch
// that others call too is copied. Left alone: conditionals with shardings.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunConditionalCanonicalizer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
