// scatter_expander: scatters as loops of dynamic updates (passes.md §4.10).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a scatter of one array becomes a loop over its index vectors, in order; a window that is not
// wholly within the array changes nothing. Left alone: several arrays, batching dimensions, empty updates,
// dynamic shapes, combiners on other types than that of the array.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunScatterExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
