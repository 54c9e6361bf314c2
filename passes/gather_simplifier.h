// gather_simplifier: gathers of one form (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a gather becomes one with indices [M,n], index_vector_dim 1, no collapsed dimensions and offset
// dimensions behind M, between transposes and reshapes; one of empty slices becomes zeros, one from a scalar
// a broadcast. Left alone: which dimensions are indexed, batching dimensions, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunGatherSimplifier(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
