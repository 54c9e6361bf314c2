// Tuples made only to be taken apart, and the reverse (passes.md §4.4).
#pragma once
#include "passes/rewrite/context.h"

namespace hlo {

/// Removes them, as pass tuple-simplifier says, asking for leave before each change; true if there were any.
Result<bool> SimplifyTuples(Module& module, PassContext& context, bool exclude_entry = false);

}  // namespace hlo
