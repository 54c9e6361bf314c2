// convolution-canonicalization: dimensions of convolutions in the order of CPU libraries (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: transposes bring the input to batch, spatial…, feature, the kernel to spatial…, input feature,
// output feature, and the result back from batch, spatial…, feature. Left alone: convolutions in that order,
// dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunConvolutionCanonicalization(Module& module, const NoPassOptions& options,
                                            PassContext& context);

}  // namespace hlo
