// reshape-decomposer: reshapes that move data as copies and bitcasts (passes.md §2.1).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: a reshape that layouts do not make a bitcast becomes bitcast and copy, copy and bitcast, or, where
// neither does, copy, bitcast and copy. Left alone: reshapes that are bitcasts, dynamic shapes, layouts with
// tiles.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunReshapeDecomposer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
