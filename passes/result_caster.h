// result_caster: products with narrower results are taken in the type of their operands (passes.md §2.3).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: dot, ragged-dot and convolution whose result type holds less than that of the operands yield the
// type of the operands, and the result is converted. Integers stay what they were; sums of floats are rounded
// once, instead of the operands before. Left alone: results of another kind (floats to integers).
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunResultCaster(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
