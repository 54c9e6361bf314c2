// while-loop-fusible-sinking: values that a loop carries unchanged although they are cheap to make of less
// are made in the body (passes.md §2.4), where they can be fused.
//
// Requires nothing. Preserves fusions, canonical dots and layouts.
// Changes: elements of the state that the body does not change and whose initial value is made by broadcasts,
// iotas, cheap elementwise ops and other data movement of fewer bytes; these bytes are carried instead, and
// the old element is handed on unread (simplify-while-loops removes it). Left alone: loops that share their
// computations or have a sharded state, values with control edges, dynamic dimensions.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunWhileLoopFusibleSinking(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
