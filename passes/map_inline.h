// map-inline: a map of one operation is that operation on arrays (passes.md §2.1).
//
// Requires nothing. Preserves layouts, fusions and canonical dots.
// Changes: a map whose computation is one elementwise operation on its parameters, or just a parameter or a
// constant, becomes the operation on arrays, the operand, or a broadcast. Left alone: any other map, dynamic
// sizes, control edges.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunMapInline(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
