#include "passes/rewrite/prefix.h"

namespace hlo {
namespace {

WindowDim WindowOf(const Prefix& prefix, int64_t n) {
  WindowDim w;
  w.size = n;
  w.pad_low = prefix.exclusive ? n : n - 1;
  w.pad_high = prefix.exclusive ? -1 : 0;
  if (prefix.reverse) std::swap(w.pad_low, w.pad_high);
  return w;
}

}  // namespace

std::optional<Prefix> MatchPrefix(const Instruction& reduce_window) {
  const Window& window = reduce_window.attr<ReduceWindowAttrs>().window;
  const Shape& shape = reduce_window.operand(0)->shape();
  std::optional<Prefix> found;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    if (window.dims[d] == WindowDim()) continue;
    if (found) return std::nullopt;
    for (const bool reverse : {false, true})
      for (const bool exclusive : {false, true}) {
        const Prefix prefix = {static_cast<int64_t>(d), reverse, exclusive};
        if (!found && window.dims[d] == WindowOf(prefix, shape.dim(prefix.dimension))) found = prefix;
      }
    if (!found) return std::nullopt;
  }
  return found;
}

Expr PrefixReduce(const Expr& x, const Expr& init, const Prefix& prefix, Computation* reducer) {
  ReduceWindowAttrs attrs;
  attrs.window.dims.resize(static_cast<size_t>(x.shape().rank()));
  attrs.window.dims[static_cast<size_t>(prefix.dimension)] = WindowOf(prefix, x.dim(prefix.dimension));
  return {x.make(), x.make().Add(OpKind::ReduceWindow, {x, init}, std::move(attrs), {reducer})};
}

}  // namespace hlo
