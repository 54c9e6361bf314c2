// convolution_4d_expander: convolutions of four spatial dimensions lose trivial ones (passes.md §4.10).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: spatial dimensions of size 1 in input, kernel and result, without padding, are removed by reshapes
// from convolutions with four spatial dimensions. Left alone: other convolutions, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunConvolution4dExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
