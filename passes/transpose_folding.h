// transpose-folding: dots and convolutions read transposed operands directly (passes.md §4.9).
//
// Requires nothing. Preserves the flat call graph, fusions and canonical dots.
// Changes: operands of dots and convolutions that are transposes give way to what is transposed, dimension
// numbers and labels follow. With any_dot also where dimensions are merged after the transpose (the other
// operand is reshaped then) and where a transposed result is the product of exchanged operands. Left alone:
// dots that would stop being canonical unless any_dot, dots of vectors, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct TransposeFoldingOptions {
  bool fold_dots = true;
  bool fold_convolutions = true;
  bool any_dot = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunTransposeFolding(Module& module, const TransposeFoldingOptions& options,
                                 PassContext& context);

}  // namespace hlo
