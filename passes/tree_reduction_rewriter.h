// tree_reduction_rewriter: long reductions in two levels (passes.md §4.10).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a reduce with a dimension longer than the window becomes a reduce-window of that size and stride,
// padded as evenly as can be, and a reduce of its result, again until no dimension is longer: sums of floats
// gain precision. Left alone: variadic reduces, reducers of more than one operation, initial values that are
// not neutral (they would count once per window), dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct TreeReductionRewriterOptions {
  int64_t reduce_window_size = 32;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunTreeReductionRewriter(Module& module, const TreeReductionRewriterOptions& options,
                                      PassContext& context);

}  // namespace hlo
