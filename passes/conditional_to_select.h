// conditional-to-select: no conditionals in computations that run per element (passes.md §4.6).
//
// Requires nothing. Preserves layouts, fusions and canonical dots.
// Changes: conditionals inside the computations of map, reduce, reduce-window, scatter, select-and-scatter,
// sort and the like become all of their branches and a select. Left alone: branches with side effects,
// control edges or loops; conditionals anywhere else.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunConditionalToSelect(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
