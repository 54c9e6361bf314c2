// dus-accumulator-zero-init-elimination: what a loop fills completely need not be filled before (passes.md
// §2.5).
//
// Requires nothing. Preserves everything but the schedule, which is repaired.
// Changes: an element of a loop that starts as a splat constant, and whose only use in the loop is to be the
// operand of a dynamic-update-slice at the induction variable, starts as custom-call `AllocateBuffer`,
// whatever lies there, if the updates cover all of it.
// Left alone: loops of unknown trip count or induction variable, updates that overlap or leave gaps.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDusAccumulatorZeroInitElimination(Module& module, const NoPassOptions& options,
                                                  PassContext& context);

}  // namespace hlo
