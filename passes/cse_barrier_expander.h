// cse_barrier_expander: removes optimization barriers, once nothing more is to be kept apart (passes.md
// §2.3).
//
// Requires nothing. Preserves everything but the schedule, which is repaired.
// Changes: an opt-barrier becomes its operand; one with control edges becomes a copy, which keeps them.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunCseBarrierExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
