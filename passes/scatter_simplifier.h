// scatter_simplifier: scatters of one form (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a scatter becomes one with indices [M,n] and updates [M,window…] without inserted dimensions,
// behind transposes and reshapes. Left alone: which dimensions are indexed, batching dimensions, dynamic
// shapes, scatters without elements.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunScatterSimplifier(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
