// reshape-decomposer: reshapes as bitcasts and copies (passes.md §2.1).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: a reshape that layouts make a bitcast becomes one, another becomes bitcast and copy, copy and
// bitcast, or, where neither does, copy, bitcast and copy. Left alone: dynamic shapes, layouts with tiles.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunReshapeDecomposer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
