// Reductions of all elements up to each one, or from each one on, as reduce-window.
#pragma once
#include "ir/prefix_reduction.h"
#include "passes/rewrite/expr.h"

namespace hlo {

/// The reduce-window of that form.
Expr PrefixReduce(const Expr& x, const Expr& init, const Prefix& prefix, Computation* reducer);

}  // namespace hlo
