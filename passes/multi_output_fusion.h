// multi_output_fusion: loops that read the same values, or whose one reads the other's, become one loop with
// several results (passes.md §5.3).
//
// Requires nothing; useful after fusion. Preserves the flat call graph and fusions.
// Changes: first siblings (consumers of one value, at least one of them a fusion), then producers into a
// consumer beside their other users. Left alone: values that depend on each other, scalars as the only thing
// in common, slices of one big value, single dynamic-update-slices, custom and output fusions.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunMultiOutputFusion(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
