// while-loop-expensive-invariant-code-motion: of what is the same in all iterations of a loop, what is dear
// and takes no more memory than what it is made of is computed before it (passes.md §2.4).
//
// Requires nothing. Preserves fusions, canonical dots and layouts.
// Changes: dots, convolutions, reductions, transcendental functions and the like that depend on unchanged
// elements of the state only, where the result has at most as many bytes as these elements. What
// while-loop-invariant-code-motion leaves alone is left alone.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunWhileLoopExpensiveInvariantCodeMotion(Module& module, const NoPassOptions& options,
                                                      PassContext& context);

}  // namespace hlo
