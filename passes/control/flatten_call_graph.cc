// flatten-call-graph: a computation of its own for every call (passes.md §4.7).
//
// Requires nothing. Preserves everything. Copies of scheduled computations are scheduled alike.
// Changes: where a computation is the callee of several whiles, conditionals, calls or async-starts, or of
// one of these and inside an operation, each further call gets a copy (`name.clone`), and so on for what the
// copies call. Functions inside operations (reducers, comparators, fusions) stay shared.
#include "passes/pass.h"
#include "passes/rewrite/flatten_calls.h"

namespace hlo {
namespace {

Result<bool> RunFlattenCallGraph(Module& module, const NoPassOptions&, PassContext& context) {
  return FlattenCalls(module, context);
}

}  // namespace

HLO_DEFINE_PASS(FlattenCallGraph, NoPassOptions);

}  // namespace hlo
