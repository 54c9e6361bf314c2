// Reductions of all elements up to each one, or from each one on, as reduce-window.
#pragma once
#include "passes/rewrite/expr.h"

namespace hlo {

/// Which elements are reduced for each element of one dimension.
struct Prefix {
  int64_t dimension = 0;
  bool reverse = false;    // those from it on instead of those up to it
  bool exclusive = false;  // without the element itself
};
/// What the reduce-window reduces, if it is that along one dimension and nothing along the others.
std::optional<Prefix> MatchPrefix(const Instruction& reduce_window);
/// The reduce-window of that form.
Expr PrefixReduce(const Expr& x, const Expr& init, const Prefix& prefix, Computation* reducer);

}  // namespace hlo
