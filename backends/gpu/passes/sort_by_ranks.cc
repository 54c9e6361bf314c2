// sort-by-ranks: sorts as loops: the place of an element is how many come before it, and each place takes the
// element that belongs there.
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: sort, stable or not, becomes three sums over all pairs of elements of a row, and gathers. Equal
// elements, and those that come before each other, stay in their order. Comparators that are no order, as <
// is where there are NaN, have no prescribed order: ranks that are equal then are told apart by the place, so
// that no element is lost. Left alone: dynamic shapes, rows of more than `max_length` elements.
#include "backends/gpu/passes/sort_rows.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"

namespace hlo::gpu {
namespace {

struct SortByRanksOptions {
  int64_t max_length = INT32_MAX;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static const PassOptionRow rows[] = {PassOption<&SortByRanksOptions::max_length>(
        "max_length", "elements of the rows that are sorted, at most")};
    return rows;
  }
};

std::optional<SortRows> RowsOf(const Instruction& inst, int64_t max_length) {
  const auto rows = RowsOfSort(inst);
  return rows && rows->length <= max_length ? rows : std::nullopt;
}

/// Whether elements of the dimension `x` of pairs [rows, i, j] come before those of the dimension `y`.
Expr Before(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> operands, int64_t x, int64_t y) {
  const int64_t rows = operands[0].dim(0), n = operands[0].dim(1);
  llvm::SmallVector<Expr, 6> pairs;
  for (const Expr& operand : operands)
    for (const int64_t d : {x, y}) pairs.push_back(operand.Broadcast({rows, n, n}, {0, d}));
  return ByComparator(make, comparator, pairs);
}

/// The number in its row of the element that each place takes.
Expr Order(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> operands) {
  const int64_t rows = operands[0].dim(0), n = operands[0].dim(1);
  const Expr first = IotaOf(make, kSortIndex, {rows, n, n}, 1),
             second = IotaOf(make, kSortIndex, {rows, n, n}, 2);
  const Expr before = Before(make, comparator, operands, 2, 1),
             behind = Before(make, comparator, operands, 1, 2);
  const Expr earlier = Lt(second, first);
  const Expr ranks = Select(Ne(before, behind), before, earlier).To(kSortIndex).Reduce(OpKind::Add, 0, {2});
  // Of an order they are the places.
  const Expr mine = ranks.Broadcast({rows, n, n}, {0, 1}), other = ranks.Broadcast({rows, n, n}, {0, 2});
  const Expr lower = Select(Eq(other, mine), earlier, Lt(other, mine));
  const Expr places = lower.To(kSortIndex).Reduce(OpKind::Add, 0, {2});
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

Instruction* ByRanks(Instruction* sort, const SortRows& rows) {
  Maker make(sort);
  const int64_t all = rows.count * rows.length;
  llvm::SmallVector<Expr, 4> operands;
  for (Instruction* operand : sort->operands()) operands.push_back(AsRows({make, operand}, rows));
  const Expr order = Order(make, *sort->callee(), operands);
  const Expr row = IotaOf(make, kSortIndex, {rows.count, rows.length}, 0);
  const Expr positions = (row * rows.length + order).Reshape({all});
  llvm::SmallVector<Instruction*, 4> sorted;
  for (const Expr& operand : operands)
    sorted.push_back(FromRows(Take(operand.Reshape({all}), positions), sort->operand(0)->shape(), rows));
  return sort->shape().IsTuple() ? make.Tuple(sorted) : sorted[0];
}

Result<bool> RunSortByRanks(Module& module, const SortByRanksOptions& options, PassContext& context) {
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return RowsOf(inst, options.max_length).has_value(); },
      [&](Instruction* inst) -> Result<Instruction*> {
        return ByRanks(inst, *RowsOf(*inst, options.max_length));
      });
}

}  // namespace

HLO_DEFINE_PASS(SortByRanks, SortByRanksOptions);

}  // namespace hlo::gpu
