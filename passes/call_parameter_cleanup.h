// call-parameter-cleanup: calls hand over only what is needed (passes.md §2.2).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired, and copies.
// Changes: where a result of a called computation is one of its parameters, or an element of the resulting
// tuple is, users of the call take the argument; results that only hand parameters on go if users take the
// call's tuple apart; parameters that nobody reads go (what made their
// arguments stays for dce). Left alone: computations that
// something other than a plain call uses, composites, shardings, control edges.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunCallParameterCleanup(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
