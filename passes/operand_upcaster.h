// operand_upcaster: products with wider results get operands of that type (passes.md §2.3).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: operands of dot, ragged-dot and convolution are converted to the type of the result where that
// type holds all their values. Left alone: other operands.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunOperandUpcaster(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
