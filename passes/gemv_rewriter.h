// gemv-rewriter: products of matrix and vector become products of matrices (passes.md §2.2).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: where one operand of a canonical dot has no free dimension and the other has one, it gets one of
// size 1, and the result is reshaped back. Left alone: products of vectors, other dots, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunGemvRewriter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
