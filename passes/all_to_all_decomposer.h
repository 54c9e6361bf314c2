// all_to_all_decomposer: all-to-all of one array as all-to-all of its slices (passes.md §2.3).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: all-to-all with a split dimension becomes slices along it, an all-to-all of the tuple of slices,
// and a concatenation of what arrives. Left alone: modules that do not say how many devices a group has,
// dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunAllToAllDecomposer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
