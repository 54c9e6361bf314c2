// cholesky_expander: cholesky by blocks (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: cholesky becomes, for panels of 128 columns from left to right, a product with the columns done, a
// loop over the columns of the diagonal block, and a triangular-solve for what is below it. A matrix with a
// pivot that is not positive becomes NaN. Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct CholeskyExpanderOptions {
  int64_t block_size = 128;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunCholeskyExpander(Module& module, const CholeskyExpanderOptions& options,
                                 PassContext& context);

}  // namespace hlo
