// gather_simplifier: gathers of one form (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a gather becomes one with indices [M,n], index_vector_dim 1, indices for the first n dimensions,
// no collapsed dimensions and offset dimensions behind M, between transposes and reshapes; one of empty
// slices becomes zeros, one from a scalar a broadcast. Left alone: batching dimensions, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunGatherSimplifier(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
