// all-reduce-combiner, all-gather-combiner, reduce-scatter-combiner: one exchange of several arrays
// (passes.md §2.6).
//
// Require nothing. Preserve no facts but flat calls, fusions and layouts.
// Change: collectives of one kind that do not depend on each other become one, whose result is a tuple, as
// long as together they have at most `combine_threshold_in_bytes` bytes and `combine_threshold_count` arrays.
// Left alone: other groups, reducers, element types, dimensions, shardings; constrained layouts, control
// edges, arrays larger than the threshold.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct CombinerOptions {
  int64_t combine_threshold_in_bytes = 1024;
  int64_t combine_threshold_count = 1024;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunAllReduceCombiner(Module& module, const CombinerOptions& options, PassContext& context);
Result<bool> RunAllGatherCombiner(Module& module, const CombinerOptions& options, PassContext& context);
Result<bool> RunReduceScatterCombiner(Module& module, const CombinerOptions& options, PassContext& context);

}  // namespace hlo
