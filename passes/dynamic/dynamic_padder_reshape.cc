// Reshapes of arrays of dynamic size: valid elements keep their order.
#include "passes/dynamic/dynamic_padder_ops.h"

namespace hlo {
namespace {

/// Row-major numbers of the valid elements among themselves, s32 of the dimensions of `sizes`' bounds.
Expr Ranks(const DynamicOp& op, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<Expr> sizes) {
  Expr rank, stride = op.Scalar(1);
  for (size_t d = dims.size(); d-- > 0;) {
    const Expr term = IotaOf(op.make, ElementType::S32, dims, static_cast<int64_t>(d)) * stride;
    rank = rank.is_number() ? term : rank + term;
    stride = stride * op.Value(sizes[d]);
  }
  return rank;
}

/// The valid elements of x in row-major order, at the front of a vector.
Expr Compacted(const DynamicOp& op, const Sized& x, int64_t n) {
  Dims all;
  for (int64_t d = 0; d < x.data.shape().rank(); ++d) all.push_back(d);
  const Sized ranks = {Ranks(op, x.data.shape().dims(), x.sizes), x.sizes};
  const Expr places = Filled(ranks, all, op.Scalar(n)).Reshape({n, 1});
  Computation* second = NewComputation(op.make.module(), "second");
  second->set_execution_thread(op.make.computation().execution_thread());
  Maker make(*second);
  const Shape scalar = Shape::ArrayWithDefaultLayout(x.data.type(), {});
  make.Parameter(0, scalar, "x");
  second->set_root(make.Parameter(1, scalar, "y"));
  ScatterAttrs attrs;
  attrs.inserted_window_dims = {0};
  attrs.scatter_dims_to_operand_dims = {0};
  attrs.index_vector_dim = 1;
  const Expr zeros = FullOf(op.make, x.data.type(), {n}, 0);
  return {op.make, op.make.Add(OpKind::Scatter, {zeros, places, x.data.Reshape({n})}, attrs, {second})};
}

/// Elements of a vector at positions, which are clamped to it.
Expr Taken(const DynamicOp& op, const Expr& vector, const Expr& positions) {
  Dims column(positions.shape().dims());
  column.push_back(1);
  GatherAttrs attrs;
  attrs.collapsed_slice_dims = {0};
  attrs.start_index_map = {0};
  attrs.index_vector_dim = positions.shape().rank();
  attrs.slice_sizes = {1};
  return {op.make, op.make.Add(OpKind::Gather, {vector, positions.Reshape(column)}, attrs)};
}

/// Dimensions of two shapes that hold the same elements.
struct Group {
  Dims in, out;
};

std::optional<std::vector<Group>> MatchGroups(const Shape& in, const Shape& out) {
  std::vector<Group> groups;
  int64_t i = 0, k = 0;
  while (i < in.rank() && k < out.rank()) {
    Group g = {{i}, {k}};
    int64_t a = in.dim(i++), b = out.dim(k++);
    while (a != b) {
      if (a < b && i < in.rank()) {
        a *= in.dim(i);
        g.in.push_back(i++);
      } else if (b < a && k < out.rank()) {
        b *= out.dim(k);
        g.out.push_back(k++);
      } else {
        return std::nullopt;
      }
    }
    groups.push_back(std::move(g));
  }
  for (; i < in.rank(); ++i) groups.push_back({{i}, {}});
  for (; k < out.rank(); ++k) groups.push_back({{}, {k}});
  return groups;
}

/// The valid elements of the group lie at its front: only its first dimension of more than one is dynamic.
bool IsPrefix(llvm::ArrayRef<int64_t> group, llvm::ArrayRef<int64_t> bounds, llvm::ArrayRef<Expr> sizes) {
  bool leading = true;
  for (const int64_t d : group) {
    const auto at = static_cast<size_t>(d);
    if (!sizes[at].is_number() && !leading) return false;
    if (bounds[at] != 1) leading = false;
  }
  return true;
}

/// The valid elements of operand 0 in an array of other sizes.
std::optional<SizedList> Moved(const DynamicOp& op, llvm::SmallVector<Expr, 4> sizes) {
  const Sized& x = op.operands[0];
  const int64_t n = x.data.shape().ElementCount();
  const llvm::ArrayRef<int64_t> dims = op.inst->shape().dims();
  if (n > INT32_MAX) return std::nullopt;
  if (n == 0 || x.sizes.empty() || sizes.empty()) return SizedList{{x.data.Reshape(dims), std::move(sizes)}};
  bool in_place = true;
  if (const auto groups = MatchGroups(x.data.shape(), op.inst->shape())) {
    for (const Group& g : *groups)
      in_place &= IsPrefix(g.in, x.data.shape().dims(), x.sizes) && IsPrefix(g.out, dims, sizes);
  } else {
    in_place = false;
  }
  if (in_place) return SizedList{{x.data.Reshape(dims), std::move(sizes)}};
  const Expr data = Taken(op, Compacted(op, x, n), Ranks(op, dims, sizes));
  return SizedList{{data, std::move(sizes)}};
}

}  // namespace

std::optional<SizedList> PadReshape(const DynamicOp& op) {
  const Sized& x = op.operands[0];
  const Shape& shape = op.inst->shape();
  llvm::SmallVector<Expr, 4> sizes(shape.dims().begin(), shape.dims().end());
  if (shape.dynamic_flags().empty()) return SizedList{{x.data.Reshape(shape.dims()), std::move(sizes)}};
  const auto groups = MatchGroups(x.data.shape(), shape);
  if (!groups) return std::nullopt;
  // Within a group one dimension of the result follows from the others.
  for (const Group& g : *groups) {
    int64_t dynamic = 0;
    for (const int64_t d : g.out) dynamic += shape.is_dynamic(d);
    if (dynamic > 1) return std::nullopt;
  }
  for (const Group& g : *groups) {
    if (llvm::none_of(g.out, [&](int64_t d) { return shape.is_dynamic(d); })) continue;
    Expr valid = 1;
    for (const int64_t d : g.in) valid = valid * x.sizes[static_cast<size_t>(d)];
    for (const int64_t d : g.out) {
      if (!shape.is_dynamic(d)) continue;
      int64_t others = 1;
      for (const int64_t e : g.out)
        if (e != d) others *= shape.dim(e);
      sizes[static_cast<size_t>(d)] = others == 0 ? Expr(0) : valid / others;
    }
  }
  return Moved(op, std::move(sizes));
}

std::optional<SizedList> PadDynamicReshape(const DynamicOp& op) {
  const Shape& shape = op.inst->shape();
  llvm::SmallVector<Expr, 4> sizes(shape.dims().begin(), shape.dims().end());
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.is_dynamic(d))
      sizes[static_cast<size_t>(d)] =
          Clamp(0, op.operands[static_cast<size_t>(d) + 1].data, shape.dim(d)).To(ElementType::S32);
  return Moved(op, std::move(sizes));
}

}  // namespace hlo
