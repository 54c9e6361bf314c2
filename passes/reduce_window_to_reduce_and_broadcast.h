// ReduceWindowToReduceAndBroadcast: windows that all see a whole dimension are one reduction (passes.md
// §2.2).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a reduce-window each of whose windows covers a dimension from end to end, and is of size 1 in the
// other dimensions, becomes a reduce and a broadcast. Left alone: strides, dilations, variadic forms, dynamic
// shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunReduceWindowToReduceAndBroadcast(Module& module, const NoPassOptions& options,
                                                 PassContext& context);

}  // namespace hlo
