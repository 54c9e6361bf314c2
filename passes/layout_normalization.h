// layout_normalization: dimensions in the order in which they lie in memory (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph, fusions, layouts and canonical dots.
// Changes: elementwise instructions and data movement on arrays with other than descending layouts work on
// bitcasts of them, whose dimensions stand in memory order; their result is a bitcast back. Copies that
// change the layout become transposes, reshapes that move no data bitcasts. Dimensions of size 1 stay. Left
// alone: other opcodes, operands of different layouts, layouts with properties, shardings, dynamic shapes;
// with strict-fp also reductions of floats whose order would change.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunLayoutNormalization(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
