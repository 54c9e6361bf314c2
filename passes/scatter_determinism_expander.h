// scatter_determinism_expander: scatters whose result does not depend on the order of updates (passes.md
// §2.3).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: a scatter that adds or multiplies floats at indices that may repeat becomes a sort of the indices,
// a prefix reduction of the updates of each index in a fixed tree, and a scatter of the totals, whose indices
// are unique. Left alone: other combiners, whose order does not matter; windows along indexed dimensions,
// which may overlap; several operands; batching dimensions; dynamic shapes; everything under strict floating
// point.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunScatterDeterminismExpander(Module& module, const NoPassOptions& options,
                                           PassContext& context);

}  // namespace hlo
