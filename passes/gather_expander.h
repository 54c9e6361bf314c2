// gather_expander: gathers as loops of dynamic slices (passes.md §4.10).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a gather becomes a loop over its index vectors that collects slices.
// Left alone: batching dimensions, empty results, scalars as operands, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunGatherExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
