// all-reduce-reassociate, reduce-scatter-reassociate: what is combined after two exchanges is combined before
// one (passes.md §2.6).
//
// Require nothing. Preserve no facts but flat calls, fusions and layouts.
// Change: op(all-reduce_op(x), all-reduce_op(y)) becomes all-reduce_op(op(x, y)), reduce-scatters likewise.
// Sums of floats are taken in another order. Left alone: results with other users, other groups, reducers and
// dimensions, constrained layouts, control edges.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunAllReduceReassociate(Module& module, const NoPassOptions& options, PassContext& context);
Result<bool> RunReduceScatterReassociate(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
