// shape-canonicalizer: equal shapes become one object (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: memory and the time of comparisons only; no module looks different afterwards, so it never reports
// a change.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunShapeCanonicalizer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
