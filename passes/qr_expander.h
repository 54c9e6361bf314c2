// qr_expander: Householder factorisation by blocks (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: custom-call "Qr" becomes, for blocks of 128 columns, a loop that reflects column after column and
// a product that applies the reflections of the block to the columns after it; custom-call
// "ProductOfElementaryHouseholderReflectors" becomes the products that form Q. Results are packed as LAPACK's
// geqrf does. Left alone: calls whose shapes are not those of the targets, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct QrExpanderOptions {
  int64_t block_size = 128;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunQrExpander(Module& module, const QrExpanderOptions& options, PassContext& context);

}  // namespace hlo
