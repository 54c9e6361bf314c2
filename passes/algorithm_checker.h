// algorithm-checker: do the types of products fit the algorithms they ask for? (passes.md §2.7)
//
// Requires nothing. Preserves everything and changes nothing.
// Fails at the first dot, scaled-dot or convolution whose algorithm takes other operands or gives other
// results. f32 operands may be taken as bf16 or tf32; an algorithm's accumulator may be rounded to bf16.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunAlgorithmChecker(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
