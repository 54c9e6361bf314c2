// reduce-decomposer: reductions that do not change layouts (passes.md §2.1).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: a reduce whose result lies otherwise than the kept dimensions of its operand becomes one that
// keeps their order, and copies. Left alone: layouts with tiles, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunReduceDecomposer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
