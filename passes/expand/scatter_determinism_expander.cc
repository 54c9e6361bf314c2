// scatter_determinism_expander: scatters whose result does not depend on the order of updates (passes.md
// §2.3).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a scatter that adds or multiplies floats at indices that may repeat becomes a sort of the indices,
// a prefix reduction of the updates of each index in a fixed tree, and a scatter of the totals, whose indices
// are unique. Left alone: other combiners, whose order does not matter; windows along indexed dimensions,
// which may overlap; several operands; batching dimensions; dynamic shapes; everything under strict floating
// point.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

constexpr ElementType kIndex = ElementType::S64;

bool Matches(const Instruction& inst) {
  if (inst.kind() != OpKind::Scatter || inst.operand_count() != 3 || !HasStaticShapes(inst) ||
      !inst.shape().IsArray())
    return false;
  const auto& a = inst.attr<ScatterAttrs>();
  const ElementType type = inst.shape().element_type();
  const auto op = ReducerOp(*inst.callee());
  const bool rounds = op == OpKind::Add || op == OpKind::Multiply;
  return !a.unique_indices && rounds && (IsFloat(type) || IsComplex(type)) && a.input_batching_dims.empty() &&
         !a.scatter_dims_to_operand_dims.empty() && inst.operand(2)->shape().element_type() == type &&
         inst.operand(2)->shape().ElementCount() > 0 && inst.shape().ElementCount() > 0 &&
         llvm::all_of(a.scatter_dims_to_operand_dims,
                      [&](int64_t d) { return llvm::is_contained(a.inserted_window_dims, d); });
}

/// The indices as s64[n, k].
Expr IndexRows(const Expr& indices, const ScatterAttrs& a) {
  const Shape& shape = indices.shape();
  const int64_t k = a.index_vector_dim == shape.rank() ? 1 : shape.dim(a.index_vector_dim);
  Dims order;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (d != a.index_vector_dim) order.push_back(d);
  if (a.index_vector_dim < shape.rank()) order.push_back(a.index_vector_dim);
  return indices.To(kIndex).Transpose(order).Reshape({shape.ElementCount() / std::max<int64_t>(k, 1), k});
}

/// The updates as [n, window…].
Expr UpdateRows(const Expr& updates, const ScatterAttrs& a, int64_t n) {
  Dims order, dims = {n};
  for (int64_t d = 0; d < updates.shape().rank(); ++d)
    if (!llvm::is_contained(a.update_window_dims, d)) order.push_back(d);
  for (const int64_t d : a.update_window_dims) {
    order.push_back(d);
    dims.push_back(updates.dim(d));
  }
  return updates.Transpose(order).Reshape(dims);
}

/// One number per row: equal for equal places, the largest for places outside of the operand.
Expr Places(const Expr& rows, const ScatterAttrs& a, const Shape& operand) {
  const int64_t n = rows.dim(0);
  int64_t total = 1;
  Expr place, inside;
  for (size_t i = 0; i < a.scatter_dims_to_operand_dims.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t size = operand.dim(a.scatter_dims_to_operand_dims[i]);
    const Expr index = rows.Slice(1, at, at + 1).Reshape({n});
    const Expr valid = Ge(index, 0) & Lt(index, size);
    place = i == 0 ? index : place * size + index;
    inside = i == 0 ? valid : inside & valid;
    total *= size;
  }
  return Select(inside, place, total);
}

/// Rows of x at positions.
Expr TakeRows(const Expr& x, const Expr& positions) {
  GatherAttrs attrs;
  attrs.collapsed_slice_dims = {0};
  attrs.start_index_map = {0};
  attrs.index_vector_dim = 1;
  attrs.slice_sizes.assign(x.shape().dims().begin(), x.shape().dims().end());
  attrs.slice_sizes[0] = 1;
  for (int64_t d = 1; d < x.shape().rank(); ++d) attrs.offset_dims.push_back(d);
  Maker& make = x.make();
  return {make, make.Add(OpKind::Gather, {x, positions.Reshape({positions.dim(0), 1})}, std::move(attrs))};
}

/// (keys, positions) in ascending order of keys.
Expr SortedWithPositions(const Expr& keys) {
  Maker& make = keys.make();
  Computation* less = NewComputation(make.module(), "place_order");
  less->set_execution_thread(make.computation().execution_thread());
  Maker inside(*less);
  const Shape scalar = Shape::ArrayWithDefaultLayout(kIndex, {});
  Instruction* x = inside.Parameter(0, scalar, "x");
  Instruction* y = inside.Parameter(1, scalar, "y");
  inside.Parameter(2, scalar, "x_position");
  inside.Parameter(3, scalar, "y_position");
  less->set_root(inside.Compare(Direction::LT, x, y));
  SortAttrs attrs;
  attrs.dimensions = {0};
  attrs.is_stable = true;
  const Expr positions = IotaOf(make, kIndex, keys.shape().dims(), 0);
  return {make, make.Add(OpKind::Sort, {keys, positions}, attrs, {less})};
}

/// Reductions of each row with the rows before it that have the same key; keys ascend.
Expr TotalsUpTo(Expr values, const Expr& keys, OpKind op) {
  const int64_t n = keys.dim(0);
  Maker& make = values.make();
  for (int64_t step = 1; step < n; step *= 2) {
    const auto moved = [&](const Expr& x) {
      llvm::SmallVector<PaddingDim, 4> padding(static_cast<size_t>(x.shape().rank()));
      padding[0].low = step;
      return Expr(make, make.Pad(x.Slice(0, 0, n - step), make.Scalar(x.type(), 0), padding));
    };
    const Expr same =
        Eq(keys, moved(keys)) & Ge(IotaOf(make, ElementType::S64, keys.shape().dims(), 0), step);
    const Expr each = same.Broadcast(values.shape().dims(), {0});
    values = Select(each, Binary(op, moved(values), values), values);
  }
  return values;
}

Instruction* MakeUnique(Instruction* inst) {
  Maker make(inst);
  const auto& a = inst->attr<ScatterAttrs>();
  const Expr rows = IndexRows(Expr(make, inst->operand(1)), a);
  const int64_t n = rows.dim(0);
  const Expr sorted = SortedWithPositions(Places(rows, a, inst->operand(0)->shape()));
  const Expr keys = sorted.Gte(0), order = sorted.Gte(1);
  const Expr updates = TakeRows(UpdateRows(Expr(make, inst->operand(2)), a, n), order);
  const Expr totals = TotalsUpTo(updates, keys, *ReducerOp(*inst->callee()));
  // Only the last row of each place holds its total; the others point outside of the operand.
  const Expr number = IotaOf(make, ElementType::S64, {n}, 0);
  Expr last = Eq(number, n - 1);
  if (n > 1) {
    const Expr next[] = {keys.Slice(0, 1, n), keys.Slice(0, n - 1, n)};
    last = last | Ne(keys, Concat(next, 0));
  }
  const Expr sorted_rows = TakeRows(rows, order);
  const Expr indices = Select(last.Broadcast(sorted_rows.shape().dims(), {0}), sorted_rows, -1);
  ScatterAttrs attrs = a;
  attrs.index_vector_dim = 1;
  attrs.unique_indices = true;
  attrs.indices_are_sorted = false;
  attrs.update_window_dims.clear();
  for (int64_t d = 1; d < totals.shape().rank(); ++d) attrs.update_window_dims.push_back(d);
  return make.Add(OpKind::Scatter, {inst->operand(0), indices, totals}, attrs, {inst->callee()});
}

Result<bool> RunScatterDeterminismExpander(Module& module, const NoPassOptions&, PassContext& context) {
  if (context.policy().strict_fp) return false;
  return ExpandMatches(module, context, Matches,
                       [](Instruction* inst) -> Result<Instruction*> { return MakeUnique(inst); });
}

}  // namespace

HLO_DEFINE_PASS(ScatterDeterminismExpander, NoPassOptions);

}  // namespace hlo
