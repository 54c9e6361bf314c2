// A computation of its own for every call (passes.md §4.7).
#pragma once
#include "passes/rewrite/context.h"

namespace hlo {

/// Copies what several calls share, as pass flatten-call-graph says, asking for leave before each copy; true
/// if there was any, an error (limit-flatten) if the copies were too many.
Result<bool> FlattenCalls(Module& module, PassContext& context);

}  // namespace hlo
