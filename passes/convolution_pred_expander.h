// convolution-pred-expander: convolutions of pred are taken in f16 (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: operands of convolutions that are all pred are converted to f16, and the result is what is not
// zero; sums that exceed f16 are infinite, thus not zero either. Left alone: other types.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunConvolutionPredExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
