// bf16-mixed-precision-removal: no instruction computes in bf16 and f32 at once (passes.md §2.7).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: an instruction that computes with both types gets its bf16 operands converted to f32 and its bf16
// results converted back. Left alone: instructions that compute in one of them, what moves values.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunBf16MixedPrecisionRemoval(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
