// scatter-slice-simplifier: what is cut off after a scatter is not computed (passes.md §2.2).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a scatter of which, also through elementwise instructions, all readers keep the same front of its
// dimensions becomes a scatter into the slice of its operand; updates beyond are out of bounds there, too.
// Left alone: other starts and strides, dimensions in which windows are larger than 1, batching dimensions,
// several operands, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunScatterSliceSimplifier(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
