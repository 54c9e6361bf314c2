#include "passes/rewrite/prefix.h"

namespace hlo {

Expr PrefixReduce(const Expr& x, const Expr& init, const Prefix& prefix, Computation* reducer) {
  ReduceWindowAttrs attrs;
  attrs.window.dims.resize(static_cast<size_t>(x.shape().rank()));
  attrs.window.dims[static_cast<size_t>(prefix.dimension)] = WindowOf(prefix, x.dim(prefix.dimension));
  return {x.make(), x.make().Add(OpKind::ReduceWindow, {x, init}, std::move(attrs), {reducer})};
}

}  // namespace hlo
