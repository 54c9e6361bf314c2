// all-reduce-simplifier: what all members of a group have already need not be exchanged (passes.md §2.6).
//
// Requires nothing. Preserves no facts but flat calls, fusions and layouts.
// Changes: an all-reduce, all-gather or reduce-scatter in groups of one is its operand; an all-reduce over
// replicas of a value that all of them share is the operand (maximum, minimum, and, or) or its product with
// the size of the groups (add), which rounds less often than a sum. Shared are constants, parameters declared
// so, results of all-reduces in the same groups or in one group, and what is computed of these.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunAllReduceSimplifier(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
