// scatter_expander: scatters as loops of dynamic updates (passes.md §4.10).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a scatter becomes a loop over its index vectors, in order; a window that is not wholly within the
// array changes nothing. Left alone: empty updates, dynamic shapes, combiners on other types than those of
// the arrays.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunScatterExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
