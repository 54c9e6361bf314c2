// convert_operand_folding: ops that accumulate wider take narrow operands as they are (passes.md §2.2).
//
// Requires nothing. Preserves layouts, fusions and flat calls.
// Changes: a convert to a wider type on an operand of dot or convolution goes where the op computes in its
// result type and no value changes on the way there, also through slices, gathers, reshapes, transposes and
// integer sums over dimensions of size 1. Exact. Left alone: explicit algorithms, sparse convolutions.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunConvertOperandFolding(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
