// flatten-call-graph: a computation of its own for every call (passes.md §4.7).
//
// Requires nothing. Preserves everything; copies of scheduled computations are scheduled alike.
// Changes: where a computation is the callee of several whiles, conditionals, calls or async-starts, or of
// one of these and inside an operation, each further call gets a copy (`name.clone`), and so on for what the
// copies call. Functions inside operations (reducers, comparators, fusions) stay shared.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunFlattenCallGraph(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
