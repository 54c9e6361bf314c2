// convolution-group-converter: grouped convolutions become ungrouped ones (passes.md §4.10).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: the groups become one more spatial dimension of size G, made by reshapes: with base dilation G and
// stride G − 1 each result position of it reads one input group with one kernel group, and holes elsewhere.
// Feature groups split input features, batch groups input batches; both split kernel output features. Left
// alone: convolutions with one group, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunConvolutionGroupConverter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
