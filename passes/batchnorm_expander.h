// batchnorm_expander: batch normalisation as sums and arithmetic (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: batch-norm-training, -inference and -grad become reductions and elementwise ops, in f64 for f64,
// else in f32 with results rounded once. The variance is the mean square deviation, so it is never negative.
// Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct BatchnormExpanderOptions {
  bool training = true, inference = true, grad = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunBatchnormExpander(Module& module, const BatchnormExpanderOptions& options,
                                  PassContext& context);

}  // namespace hlo
