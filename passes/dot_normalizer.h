// dot_normalizer: dots without contracting dimension get one of size 1 (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: both operands are reshaped to end with a dimension of size 1, which is contracted. Left alone:
// dots with contracting dimensions, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDotNormalizer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
