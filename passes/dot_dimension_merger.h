// dot_dimension_merger: consecutive batch dimensions of dots become one (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: batch dimensions that follow one another in both operands, in equal order, are merged by reshapes,
// and the result is reshaped back. Left alone: other dimensions, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDotDimensionMerger(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
