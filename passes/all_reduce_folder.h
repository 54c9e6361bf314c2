// all-reduce-folder: an all-reduce of an all-reduce is one over larger groups (passes.md §2.6).
//
// Requires nothing. Preserves no facts but flat calls, fusions and layouts.
// Changes: where every group of the outer one takes each of its members from another, whole group of the
// inner one, and these unions are groups themselves, the operand is reduced over them at once. Sums of floats
// are taken in another order. Left alone: inner results with other users, other reducers, constrained
// layouts, control edges, unknown numbers of devices.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunAllReduceFolder(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
