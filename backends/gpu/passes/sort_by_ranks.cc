// sort-by-ranks: sorts as loops: the place of an element is how many come before it, and each place takes the
// element that belongs there.
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: sort, stable or not, becomes three sums over all pairs of elements of a row, and gathers. Equal
// elements, and those that come before each other, stay in their order. Comparators that are no order, as <
// is where there are NaN, have no prescribed order: ranks that are equal then are told apart by the place, so
// that no element is lost. Left alone: dynamic shapes, rows with more pairs than
// `max_pairs` together.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo::gpu {
namespace {

constexpr ElementType kIndex = ElementType::S32;

struct SortByRanksOptions {
  int64_t max_pairs = int64_t{1} << 36;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static const PassOptionRow rows[] = {PassOption<&SortByRanksOptions::max_pairs>(
        "max_pairs", "pairs of elements that are compared at most")};
    return rows;
  }
};

/// Rows of elements that are sorted, however they lie in the operands.
struct Rows {
  int64_t dimension, count, length;
};

std::optional<Rows> RowsOf(const Instruction& inst, int64_t max_pairs) {
  if (inst.kind() != OpKind::Sort || !HasStaticShapes(inst)) return {};
  const Shape& shape = inst.operand(0)->shape();
  const int64_t dimension = inst.attr<SortAttrs>().dimensions[0], length = shape.dim(dimension);
  const int64_t elements = shape.ElementCount();
  if (elements == 0 || elements > INT32_MAX || length > max_pairs / elements) return {};
  return Rows{dimension, elements / length, length};
}

/// The sorted dimension last or back in its place.
Expr Moved(const Expr& x, int64_t from, int64_t to) {
  if (from == to) return x;
  llvm::SmallVector<int64_t, 4> order;
  for (int64_t d = 0; d < x.shape().rank(); ++d) order.push_back(d);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return x.Transpose(order);
}

/// Whether elements of the dimension `x` of pairs [rows, i, j] come before those of the dimension `y`.
Expr Before(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> operands, int64_t x, int64_t y) {
  const int64_t rows = operands[0].dim(0), n = operands[0].dim(1);
  llvm::SmallVector<Instruction*, 6> pairs;
  for (const Expr& operand : operands)
    for (const int64_t d : {x, y}) pairs.push_back(operand.Broadcast({rows, n, n}, {0, d}));
  MapAttrs map;
  map.dimensions = {0, 1, 2};
  return {make, make.Add(OpKind::Map, pairs, std::move(map), {&comparator})};
}

/// The number in its row of the element that each place takes.
Expr Order(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> operands) {
  const int64_t rows = operands[0].dim(0), n = operands[0].dim(1);
  const Expr first = IotaOf(make, kIndex, {rows, n, n}, 1), second = IotaOf(make, kIndex, {rows, n, n}, 2);
  const Expr before = Before(make, comparator, operands, 2, 1),
             behind = Before(make, comparator, operands, 1, 2);
  const Expr earlier = Lt(second, first);
  const Expr ranks = Select(Ne(before, behind), before, earlier).To(kIndex).Reduce(OpKind::Add, 0, {2});
  // Of an order they are the places.
  const Expr mine = ranks.Broadcast({rows, n, n}, {0, 1}), other = ranks.Broadcast({rows, n, n}, {0, 2});
  const Expr lower = Select(Eq(other, mine), earlier, Lt(other, mine));
  const Expr places = lower.To(kIndex).Reduce(OpKind::Add, 0, {2});
  const Expr belongs = Eq(places.Broadcast({rows, n, n}, {0, 2}), first);
  return Select(belongs, second, 0).Reduce(OpKind::Add, 0, {2});
}

/// Elements of x, one row, at positions.
Expr Take(const Expr& x, const Expr& positions) {
  GatherAttrs attrs;
  attrs.collapsed_slice_dims = {0};
  attrs.start_index_map = {0};
  attrs.index_vector_dim = 1;
  attrs.slice_sizes = {1};
  Maker& make = x.make();
  return {make, make.Add(OpKind::Gather, {x, positions.Reshape({positions.dim(0), 1})}, std::move(attrs))};
}

Instruction* ByRanks(Instruction* sort, const Rows& rows) {
  Maker make(sort);
  const int64_t last = sort->operand(0)->shape().rank() - 1, all = rows.count * rows.length;
  llvm::SmallVector<Expr, 4> moved, operands;
  for (Instruction* operand : sort->operands()) {
    moved.push_back(Moved({make, operand}, rows.dimension, last));
    operands.push_back(moved.back().Reshape({rows.count, rows.length}));
  }
  const Expr order = Order(make, *sort->callee(), operands);
  const Expr row = IotaOf(make, kIndex, {rows.count, rows.length}, 0);
  const Expr positions = (row * rows.length + order).Reshape({all});
  llvm::SmallVector<Instruction*, 4> sorted;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Expr taken = Take(operands[k].Reshape({all}), positions);
    sorted.push_back(Moved(taken.Reshape(moved[k].shape().dims()), last, rows.dimension));
  }
  return sort->shape().IsTuple() ? make.Tuple(sorted) : sorted[0];
}

Result<bool> RunSortByRanks(Module& module, const SortByRanksOptions& options, PassContext& context) {
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return RowsOf(inst, options.max_pairs).has_value(); },
      [&](Instruction* inst) -> Result<Instruction*> {
        return ByRanks(inst, *RowsOf(*inst, options.max_pairs));
      });
}

}  // namespace

HLO_DEFINE_PASS(SortByRanks, SortByRanksOptions);

}  // namespace hlo::gpu
