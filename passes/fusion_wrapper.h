// fusion-wrapper: instructions that could be fused stand alone no more, each becomes a fusion of one
// (passes.md §2.5), so that code generators see fusions only.
//
// Requires nothing; useful after fusion. Preserves everything but the schedule.
// Changes: elementwise ops, data movement, reductions, windows and scatters of static arrays outside of
// fusions and outside of computations that are applied element by element. Left alone: parameters, constants,
// tuples and their elements, bitcasts, concatenations, transposes, dynamic updates, side effects, and
// everything with control edges.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunFusionWrapper(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
