// bfloat16-propagation: values that are only read as bf16 become bf16 (passes.md §2.7).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: where every user of an f32 value converts it to bf16, instructions that move values move bf16
// instead, and dots of bf16 operands make it. Results do not change. Left alone: other arithmetic, whose
// operands would have to be f32 still; values that pass through computations.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunBfloat16Propagation(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
