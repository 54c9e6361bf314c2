// reduce-window-rewriter: long prefix reductions as trees of short ones (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: a reduce-window that reduces all elements up to each one along a dimension (or from each one on,
// with or without it) of more than base_length elements becomes one over rows of base_length elements, one
// over the totals of the rows, and their combination; repeated until all are short. The init counts once.
// Windows over vectors that are left become windows over matrices of one column.
// Floating sums and products are grouped anew (not under strict floating point). Left alone: reducers other
// than one commutative operation, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct ReduceWindowRewriterOptions {
  int64_t base_length = 16;
  bool vectors = false;  // stay windows over vectors
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunReduceWindowRewriter(Module& module, const ReduceWindowRewriterOptions& options,
                                     PassContext& context);

}  // namespace hlo
