// fusion_constant_sinking: scalar constants that fusions get as operands move into them (passes.md §2.2).
//
// Requires nothing. Preserves everything but the schedule, which is repaired.
// Changes: an operand of a fusion that is a scalar constant becomes a constant in its body, nested fusions
// included; the operand goes. Left alone: the last operand of a fusion, bodies that others call, fusions that
// declare aliases of operands, elided constants.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunFusionConstantSinking(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
