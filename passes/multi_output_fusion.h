// multi_output_fusion, cpu_multi_output_fusion: loops that read the same values, or whose one reads the
// other's, become one loop with several results (passes.md §5.3).
//
// Require nothing; useful after fusion. Preserve the flat call graph and fusions.
// Change: first siblings (consumers of one value, at least one of them a fusion), then producers into a
// consumer beside their other users; cpu_multi_output_fusion joins siblings only. Left alone: values that
// depend on each other, scalars as the only thing in common, slices of one big value, single
// dynamic-update-slices, custom and output fusions.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunMultiOutputFusion(Module& module, const NoPassOptions& options, PassContext& context);
Result<bool> RunCpuMultiOutputFusion(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
