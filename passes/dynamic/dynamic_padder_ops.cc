#include "passes/dynamic/dynamic_padder_ops.h"

#include <algorithm>

#include "passes/analysis/reducers.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

using Results = std::optional<SizedList>;

/// The sizes of a static array.
llvm::SmallVector<Expr, 4> StaticSizes(const Shape& shape) {
  return llvm::SmallVector<Expr, 4>(shape.dims().begin(), shape.dims().end());
}

Results One(const Expr& data, llvm::SmallVector<Expr, 4> sizes) {
  return SizedList{{data, std::move(sizes)}};
}

bool IsDynamic(const Sized& x, int64_t d) { return !x.sizes[static_cast<size_t>(d)].is_number(); }
const Expr& SizeOf(const Sized& x, int64_t d) { return x.sizes[static_cast<size_t>(d)]; }

Results Elementwise(const DynamicOp& op) {
  auto sizes = StaticSizes(op.inst->shape());
  for (const Sized& x : op.operands)
    for (size_t d = 0; x.sizes.size() == sizes.size() && d < sizes.size(); ++d)
      sizes[d] = DynamicOp::Smaller(sizes[d], x.sizes[d]);
  return One(op.Clone(), sizes);
}

Results Broadcast(const DynamicOp& op) {
  auto sizes = StaticSizes(op.inst->shape());
  for (const auto [d, to] : llvm::enumerate(op.inst->attr<DimensionsAttrs>().dimensions))
    sizes[static_cast<size_t>(to)] = op.operands[0].sizes[d];
  return One(op.Clone(), sizes);
}

Results Transpose(const DynamicOp& op) {
  llvm::SmallVector<Expr, 4> sizes;
  for (const int64_t d : op.inst->attr<DimensionsAttrs>().dimensions)
    sizes.push_back(SizeOf(op.operands[0], d));
  return One(op.Clone(), sizes);
}

/// The reversed array begins with its padding: a window of the same size that starts behind it.
Results Reverse(const DynamicOp& op) {
  const Sized& x = op.operands[0];
  Expr data = op.Clone();
  for (const int64_t d : op.inst->attr<DimensionsAttrs>().dimensions) {
    if (!IsDynamic(x, d)) continue;
    const Expr doubled[] = {data, data};
    llvm::SmallVector<Expr, 4> starts(x.sizes.size(), Expr(0));
    starts[static_cast<size_t>(d)] = data.dim(d) - SizeOf(x, d);
    data = DynamicSliceOf(Concat(doubled, d), starts, data.shape().dims());
  }
  return One(data, x.sizes);
}

/// Operands are laid one after the other at run-time offsets, each over the padding of the one before.
Results Concatenate(const DynamicOp& op) {
  const int64_t along = op.inst->attr<DimensionsAttrs>().dimensions[0];
  const Shape& shape = op.inst->shape();
  Expr data = FullOf(op.make, shape.element_type(), shape.dims(), 0), offset = op.Scalar(0);
  auto sizes = StaticSizes(shape);
  bool moved = false;
  for (const Sized& x : op.operands) {
    llvm::SmallVector<Expr, 4> starts(sizes.size(), Expr(0));
    starts[static_cast<size_t>(along)] = offset;
    data = DynamicUpdateOf(data, x.data.To(shape.element_type()), starts);
    offset = offset + op.Value(SizeOf(x, along));
    moved |= IsDynamic(x, along);
    for (size_t d = 0; d < sizes.size(); ++d)
      if (static_cast<int64_t>(d) != along) sizes[d] = DynamicOp::Smaller(sizes[d], x.sizes[d]);
  }
  if (moved) sizes[static_cast<size_t>(along)] = offset;
  return One(data, sizes);
}

/// Invalid elements take the padding value first, so that it follows the last valid one.
Results Pad(const DynamicOp& op) {
  const Sized& x = op.operands[0];
  Dims all;
  for (int64_t d = 0; d < static_cast<int64_t>(x.sizes.size()); ++d) all.push_back(d);
  const Expr value = op.operands[1].data;
  if (value.type() != x.data.type()) return std::nullopt;
  auto sizes = StaticSizes(op.inst->shape());
  for (const int64_t d : all) {
    if (!IsDynamic(x, d)) continue;
    const PaddingDim& p = op.inst->attr<PadAttrs>().padding[static_cast<size_t>(d)];
    Expr size = SizeOf(x, d) + (p.low + p.high);
    if (p.interior != 0) size = size + Max(SizeOf(x, d) - 1, 0) * p.interior;
    sizes[static_cast<size_t>(d)] = Clamp(0, size, op.inst->shape().dim(d));
  }
  return One(op.Clone({Filled(x, all, value), value}), sizes);
}

Results Slice(const DynamicOp& op) {
  const Sized& x = op.operands[0];
  auto sizes = StaticSizes(op.inst->shape());
  for (const auto [d, range] : llvm::enumerate(op.inst->attr<SliceAttrs>().slice)) {
    if (x.sizes[d].is_number()) continue;
    const Expr valid = Min(x.sizes[d], range.limit) - range.start;
    sizes[d] = range.stride == 1 ? Max(valid, 0) : Select(Le(valid, 0), 0, (valid - 1) / range.stride + 1);
  }
  return One(op.Clone(), sizes);
}

Results DynamicSlice(const DynamicOp& op) {
  const Sized& x = op.operands[0];
  auto sizes = StaticSizes(op.inst->shape());
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!x.sizes[d].is_number()) sizes[d] = Min(x.sizes[d], op.inst->shape().dims()[d]);
  return One(op.Clone(), sizes);
}

/// Only the valid part of the update is written.
Results DynamicUpdateSlice(const DynamicOp& op) {
  const Sized &x = op.operands[0], &update = op.operands[1];
  llvm::SmallVector<Instruction*, 6> values;
  for (const Sized& o : op.operands) values.push_back(o.data);
  Expr valid;
  for (int64_t d = 0; d < static_cast<int64_t>(update.sizes.size()); ++d) {
    if (!IsDynamic(update, d)) continue;
    const Expr inside =
        Lt(IotaOf(op.make, ElementType::S32, update.data.shape().dims(), d), SizeOf(update, d));
    valid = valid.is_number() ? inside : valid & inside;
  }
  if (!valid.is_number()) {
    const Expr old(op.make, op.make.DynamicSlice(x.data, llvm::ArrayRef(values).drop_front(2),
                                                 update.data.shape().dims()));
    values[1] = Select(valid, update.data, old);
  }
  return One(op.Clone(values), x.sizes);
}

Results GetSize(const DynamicOp& op) {
  const int64_t d = op.inst->attr<DimensionsAttrs>().dimensions[0];
  return One(op.Value(SizeOf(op.operands[0], d)), {});
}

Results SetSize(const DynamicOp& op) {
  const int64_t d = op.inst->attr<DimensionsAttrs>().dimensions[0];
  Sized x = op.operands[0];
  const Expr size = Clamp(0, op.operands[1].data, x.data.dim(d)).To(ElementType::S32);
  x.sizes[static_cast<size_t>(d)] = op.inst->shape().is_dynamic(d) ? size : Expr(x.data.dim(d));
  return SizedList{x};
}

/// The operation of a reducer, also of one that computes in a wider type than that of the elements.
std::optional<OpKind> CombiningOp(const Computation& reducer) {
  if (const auto kind = ReducerOp(reducer)) return kind;
  const Instruction* root = reducer.root();
  if (root->kind() != OpKind::Convert || root->operand(0)->operand_count() != 2) return std::nullopt;
  const Instruction *op = root->operand(0), *a = op->operand(0), *b = op->operand(1);
  for (const Instruction* x : {a, b})
    if (x->kind() != OpKind::Convert || x->operand(0)->kind() != OpKind::Parameter) return std::nullopt;
  if (a->operand(0) == b->operand(0)) return std::nullopt;
  return op->info().Is(kMonoid) ? std::optional(op->kind()) : std::nullopt;
}

/// What changes nothing as the second operand of a reducer that is no monoid.
std::optional<double> RightNeutral(const Computation& reducer) {
  constexpr std::pair<OpKind, double> kNeutral[] = {{OpKind::Subtract, 0}, {OpKind::Divide, 1}};
  const Instruction& root = *reducer.root();
  for (const auto& [kind, value] : kNeutral)
    if (root.kind() == kind && root.operand(0) == reducer.parameter(0) &&
        root.operand(1) == reducer.parameter(1))
      return value;
  return std::nullopt;
}

/// What a reduction may meet any number of times without changing its result, or what XLA takes for it.
Expr Neutral(const DynamicOp& op, int64_t i) {
  const int64_t n = static_cast<int64_t>(op.operands.size()) / 2;
  const Expr init = op.operands[static_cast<size_t>(n + i)].data;
  if (const auto right = n == 1 ? RightNeutral(*op.inst->callee()) : std::nullopt)
    return {op.make, op.make.Scalar(init.type(), *right)};
  const auto kind = n == 1 ? CombiningOp(*op.inst->callee()) : std::nullopt;
  if (!kind || Info(*kind).Is(kIdempotent)) return init;
  return IdentityOf(op.make, *kind, init.type()).value_or(init);
}

/// A reduction, its arrays filled in `dimensions`; `sizes` are those of its results.
Results Folded(const DynamicOp& op, llvm::ArrayRef<int64_t> dimensions,
               const llvm::SmallVector<Expr, 4>& sizes) {
  llvm::SmallVector<Instruction*, 4> values;
  const int64_t n = static_cast<int64_t>(op.operands.size()) / 2;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(Filled(op.operands[static_cast<size_t>(i)], dimensions, Neutral(op, i)));
  for (int64_t i = 0; i < n; ++i) values.push_back(op.operands[static_cast<size_t>(n + i)].data);
  const Expr result = op.Clone(values);
  if (!op.inst->shape().IsTuple()) return One(result, sizes);
  SizedList results;
  for (int64_t i = 0; i < n; ++i) results.push_back({result.Gte(i), sizes});
  return results;
}

llvm::SmallVector<Expr, 4> CommonSizes(const DynamicOp& op, int64_t count) {
  auto sizes = op.operands[0].sizes;
  for (int64_t i = 1; i < count; ++i)
    for (size_t d = 0; d < sizes.size(); ++d)
      sizes[d] = DynamicOp::Smaller(sizes[d], op.operands[static_cast<size_t>(i)].sizes[d]);
  return sizes;
}

Results Reduce(const DynamicOp& op) {
  const auto& reduced = op.inst->attr<ReduceAttrs>().dimensions;
  const auto all = CommonSizes(op, static_cast<int64_t>(op.operands.size()) / 2);
  llvm::SmallVector<Expr, 4> sizes;
  for (size_t d = 0; d < all.size(); ++d)
    if (!llvm::is_contained(reduced, static_cast<int64_t>(d))) sizes.push_back(all[d]);
  return Folded(op, reduced, sizes);
}

/// Output positions of a window over a base of run-time size (ops-structured §2).
Expr WindowCount(const WindowDim& w, const Expr& size) {
  const Expr dilated = w.base_dilation == 1 ? size : Select(Eq(size, 0), 0, (size - 1) * w.base_dilation + 1);
  const Expr room = dilated + (w.pad_low + w.pad_high - ((w.size - 1) * w.window_dilation + 1));
  return Select(Lt(room, 0), 0, room / w.stride + 1);
}

Results ReduceWindow(const DynamicOp& op) {
  const Window& window = op.inst->attr<ReduceWindowAttrs>().window;
  auto sizes = CommonSizes(op, static_cast<int64_t>(op.operands.size()) / 2);
  Dims filled;
  const Shape& shape = op.inst->shape().IsTuple() ? op.inst->shape().tuple_shape(0) : op.inst->shape();
  for (size_t d = 0; d < window.dims.size(); ++d) {
    if (window.dims[d] == WindowDim()) continue;
    const auto dimension = static_cast<int64_t>(d);
    filled.push_back(dimension);
    sizes[d] = sizes[d].is_number() ? Expr(shape.dim(dimension)) : WindowCount(window.dims[d], sizes[d]);
  }
  return Folded(op, filled, sizes);
}

Results Dot(const DynamicOp& op) {
  const auto& a = op.inst->attr<DotAttrs>();
  Sized lhs = op.operands[0], rhs = op.operands[1];
  const auto join = [&](int64_t l, int64_t r) {
    Expr &x = lhs.sizes[static_cast<size_t>(l)], &y = rhs.sizes[static_cast<size_t>(r)];
    x = y = DynamicOp::Smaller(x, y);
    return x;
  };
  llvm::SmallVector<Expr, 4> sizes;
  for (size_t i = 0; i < a.lhs_batch_dims.size(); ++i)
    sizes.push_back(join(a.lhs_batch_dims[i], a.rhs_batch_dims[i]));
  for (size_t i = 0; i < a.lhs_contracting_dims.size(); ++i)
    join(a.lhs_contracting_dims[i], a.rhs_contracting_dims[i]);
  const auto add_free = [&](const Sized& x, llvm::ArrayRef<int64_t> batch,
                            llvm::ArrayRef<int64_t> contracting) {
    for (int64_t d = 0; d < static_cast<int64_t>(x.sizes.size()); ++d)
      if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d)) sizes.push_back(SizeOf(x, d));
  };
  add_free(lhs, a.lhs_batch_dims, a.lhs_contracting_dims);
  add_free(rhs, a.rhs_batch_dims, a.rhs_contracting_dims);
  const auto filled = [](const Sized& x, llvm::ArrayRef<int64_t> dimensions) {
    return Filled(x, dimensions, Expr(x.data.make(), x.data.make().Scalar(x.data.type(), 0)));
  };
  return One(op.Clone({filled(lhs, a.lhs_contracting_dims), filled(rhs, a.rhs_contracting_dims)}), sizes);
}

Results Convolution(const DynamicOp& op) {
  const auto& a = op.inst->attr<ConvolutionAttrs>();
  const Sized &x = op.operands[0], &kernel = op.operands[1];
  const bool kernel_dynamic = llvm::any_of(kernel.sizes, [](const Expr& s) { return !s.is_number(); });
  if (kernel_dynamic || !(a.sparsity_config == SparsityConfig()) || a.batch_group_count != 1 ||
      IsDynamic(x, a.dim_labels->input_feature))
    return std::nullopt;
  auto sizes = StaticSizes(op.inst->shape());
  sizes[static_cast<size_t>(a.dim_labels->output_batch)] = SizeOf(x, a.dim_labels->input_batch);
  for (size_t i = 0; i < a.window.dims.size(); ++i) {
    const Expr& size = SizeOf(x, a.dim_labels->input_spatial[i]);
    if (!size.is_number())
      sizes[static_cast<size_t>(a.dim_labels->output_spatial[i])] = WindowCount(a.window.dims[i], size);
  }
  const Expr zero(op.make, op.make.Scalar(x.data.type(), 0));
  return One(op.Clone({Filled(x, a.dim_labels->input_spatial, zero), kernel.data}), sizes);
}

/// A flag for invalid elements becomes the first key.
Results Sort(const DynamicOp& op) {
  const int64_t along = op.inst->attr<SortAttrs>().dimensions[0];
  const auto count = static_cast<int64_t>(op.operands.size());
  const auto sizes = CommonSizes(op, count);
  const Expr& size = sizes[static_cast<size_t>(along)];
  llvm::SmallVector<Instruction*, 4> values;
  for (const Sized& x : op.operands) values.push_back(x.data);
  Expr sorted;
  if (size.is_number()) {
    sorted = op.Clone(values);
  } else {
    const Shape& shape = op.operands[0].data.shape();
    values.push_back(Ge(IotaOf(op.make, ElementType::S32, shape.dims(), along), size));
    const Computation& before = *op.inst->callee();
    Computation* valid_first = NewComputation(op.make.module(), before.name());
    valid_first->set_execution_thread(before.execution_thread());
    Maker make(*valid_first, before.root());
    llvm::SmallVector<Instruction*, 8> parameters;
    for (const Instruction* p : before.parameters())
      parameters.push_back(make.Parameter(static_cast<int64_t>(parameters.size()), p->shape(), p->name()));
    const Shape flag = Shape::ArrayWithDefaultLayout(ElementType::Pred, {});
    const Expr x(make, make.Parameter(2 * count, flag, "x_invalid")),
        y(make, make.Parameter(2 * count + 1, flag, "y_invalid"));
    const Expr order(make, InlineBody(x, before, parameters));
    valid_first->set_root(Select(Eq(x, y), order, Not(x)));
    sorted = Expr(op.make, op.make.Add(OpKind::Sort, values, op.inst->attr<SortAttrs>(), {valid_first}));
  }
  SizedList results;
  for (int64_t i = 0; i < count; ++i)
    results.push_back({sorted.shape().IsTuple() ? sorted.Gte(i) : sorted, sizes});
  return results;
}

Results Gather(const DynamicOp& op) {
  const auto& a = op.inst->attr<GatherAttrs>();
  const Sized &x = op.operands[0], &indices = op.operands[1];
  llvm::SmallVector<Expr, 4> sizes;
  int64_t window = 0, point = 0;
  for (int64_t d = 0; d < op.inst->shape().rank(); ++d) {
    Expr size = op.inst->shape().dim(d);
    if (llvm::is_contained(a.offset_dims, d)) {
      while (llvm::is_contained(a.collapsed_slice_dims, window) ||
             llvm::is_contained(a.operand_batching_dims, window))
        ++window;
      if (a.slice_sizes[static_cast<size_t>(window)] == x.data.dim(window)) size = SizeOf(x, window);
      ++window;
    } else {
      if (point == a.index_vector_dim) ++point;
      size = SizeOf(indices, point++);
    }
    sizes.push_back(size);
  }
  return One(op.Clone(), sizes);
}

/// Rows of indices that are padding point outside of the operand.
Results Scatter(const DynamicOp& op) {
  const auto& a = op.inst->attr<ScatterAttrs>();
  const int64_t n = static_cast<int64_t>(op.operands.size()) / 2;
  if (a.scatter_dims_to_operand_dims.empty()) return std::nullopt;
  Sized indices = op.operands[static_cast<size_t>(n)];
  Dims filled;
  int64_t point = 0;
  const auto& updates = op.operands[static_cast<size_t>(n + 1)];
  for (int64_t d = 0; d < static_cast<int64_t>(updates.sizes.size()); ++d) {
    if (llvm::is_contained(a.update_window_dims, d)) {
      if (IsDynamic(updates, d)) return std::nullopt;
      continue;
    }
    if (point == a.index_vector_dim) ++point;
    Expr& size = indices.sizes[static_cast<size_t>(point)];
    size = DynamicOp::Smaller(size, SizeOf(updates, d));
    filled.push_back(point++);
  }
  llvm::SmallVector<Instruction*, 4> values;
  for (const Sized& x : op.operands) values.push_back(x.data);
  const Expr outside(op.make, op.make.ScalarInt(indices.data.type(), -1));
  values[static_cast<size_t>(n)] = Filled(indices, filled, outside);
  const Expr result = op.Clone(values);
  SizedList results;
  for (int64_t i = 0; i < n; ++i)
    results.push_back(
        {result.shape().IsTuple() ? result.Gte(i) : result, op.operands[static_cast<size_t>(i)].sizes});
  return results;
}

struct Row {
  OpKind kind;
  DynamicRule rule;
};
constexpr Row kRows[] = {
    {OpKind::Broadcast, Broadcast},
    {OpKind::Concatenate, Concatenate},
    {OpKind::Convolution, Convolution},
    {OpKind::Dot, Dot},
    {OpKind::DynamicReshape, PadDynamicReshape},
    {OpKind::DynamicSlice, DynamicSlice},
    {OpKind::DynamicUpdateSlice, DynamicUpdateSlice},
    {OpKind::Gather, Gather},
    {OpKind::GetDimensionSize, GetSize},
    {OpKind::Pad, Pad},
    {OpKind::Reduce, Reduce},
    {OpKind::ReduceWindow, ReduceWindow},
    {OpKind::Reshape, PadReshape},
    {OpKind::Reverse, Reverse},
    {OpKind::Scatter, Scatter},
    {OpKind::SetDimensionSize, SetSize},
    {OpKind::Slice, Slice},
    {OpKind::Sort, Sort},
    {OpKind::Transpose, Transpose},
};

}  // namespace

Expr DynamicOp::Clone(llvm::ArrayRef<Instruction*> values) const {
  Instruction* copy = CloneWith(*inst, *inst->parent(), values);
  copy->set_shape(inst->shape().WithoutDynamic());
  return {make, copy};
}

Expr DynamicOp::Clone() const {
  llvm::SmallVector<Instruction*, 4> values;
  for (const Sized& x : operands) values.push_back(x.data);
  return Clone(values);
}

Expr Filled(const Sized& x, llvm::ArrayRef<int64_t> dimensions, const Expr& value) {
  Expr valid;
  for (const int64_t d : dimensions) {
    if (!IsDynamic(x, d)) continue;
    const Expr inside = Lt(IotaOf(x.data.make(), ElementType::S32, x.data.shape().dims(), d), SizeOf(x, d));
    valid = valid.is_number() ? inside : valid & inside;
  }
  return valid.is_number() ? x.data : Select(valid, x.data, value);
}

DynamicRule FindDynamicRule(const Instruction& inst) {
  for (const Row& row : kRows)
    if (row.kind == inst.kind()) return row.rule;
  return inst.info().Is(kElementwise) ? &Elementwise : nullptr;
}

}  // namespace hlo
