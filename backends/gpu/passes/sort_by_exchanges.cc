// sort-by-exchanges: long sorts as bitonic networks.
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: sort, stable or not, becomes sorts of rows [rows, elements] that a block of threads sorts
// (sort-kernels), where its rows are no longer than these tiles. Longer rows are sorted tile by tile; then
// sorted runs are merged, two by two: in each stage of a merge every element meets the one whose place
// differs by a mask, and both change places if they are in the wrong order; what lies within tiles is done by
// sorting these again. A stage is a step over all elements at once, the work is that of n log2(n)^2
// comparisons. All stages order upwards (the first of each merge meets mirrored), so rows of any length do
// without padding: what would meet an element beyond the end stays. Equal elements, and those that come
// before each other, are told apart by their places at the beginning, which go along with them; integers in
// the order of their numbers need none. Elements only
// ever change places, so that none is lost where the comparator is no order. Left alone: dynamic shapes, rows
// of one element, rows [rows, elements] that are short enough.
#include "backends/compile/machine.h"
#include "backends/gpu/passes/sort_rows.h"
#include "backends/kernel/lower.h"
#include "llvm/Support/MathExtras.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"

namespace hlo::gpu {
namespace {

struct SortByExchangesOptions {
  int64_t tile = -1;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static const PassOptionRow rows[] = {
        PassOption<&SortByExchangesOptions::tile>("tile",
                                                  "elements of the longest rows that are sorted at once, a "
                                                  "power of two; 0: none; -1: what the machine sorts")};
    return rows;
  }
};

/// The sort as it is left for sort-kernels.
bool IsOfShortRows(const Instruction& sort, const SortRows& rows, int64_t tile) {
  return rows.length <= tile && sort.operand(0)->shape().rank() == 2 && rows.dimension == 1;
}

/// By which number places differ that meet in stages of the merge that makes runs of `run` elements, as far
/// as they are not in the same tile.
std::vector<int32_t> MasksOf(int64_t run, int64_t tile) {
  std::vector<int32_t> masks = {static_cast<int32_t>(run - 1)};
  for (int64_t stride = run / 4; stride >= std::max<int64_t>(tile, 1); stride /= 2)
    masks.push_back(static_cast<int32_t>(stride));
  return masks;
}

using State = llvm::SmallVector<Expr, 6>;

/// What elements are ordered by: numbers as they are, or else a comparator, and then their places.
struct Order {
  std::optional<Direction> numbers;
  Computation* comparator;
};

/// Elements [row, place] of x, one for each place of a row.
Expr AtPlaces(const Expr& x, const Expr& places) {
  GatherAttrs attrs;
  attrs.offset_dims = {0};
  attrs.collapsed_slice_dims = {1};
  attrs.start_index_map = {1};
  attrs.index_vector_dim = 1;
  attrs.slice_sizes = {x.dim(0), 1};
  Maker& make = x.make();
  return {make, make.Add(OpKind::Gather, {x, places.Reshape({places.dim(0), 1})}, std::move(attrs))};
}

/// Whether the elements x come before those of y.
Expr Before(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> x, llvm::ArrayRef<Expr> y) {
  llvm::SmallVector<Expr, 6> pairs;
  for (const auto& [a, b] : llvm::zip(x, y)) pairs.append({a, b});
  return ByComparator(make, comparator, pairs);
}

/// A stage of numbers, which need no places: those that are equal are the same.
Expr ExchangeNumbers(const Expr& x, Direction direction, const Expr& mask) {
  const int64_t rows = x.dim(0), length = x.dim(1);
  const Expr place = IotaOf(x.make(), kSortIndex, {length}, 0), partner = place ^ mask;
  const Expr other = AtPlaces(x, partner);
  const Expr first = direction == Direction::LT ? Min(x, other) : Max(x, other),
             last = direction == Direction::LT ? Max(x, other) : Min(x, other);
  const Expr lower = Lt(place, partner).Broadcast({rows, length}, {1});
  // Those without a partner meet others that they do not change places with.
  const Expr alone = Ge(partner, Expr(length)).Broadcast({rows, length}, {1});
  return Select(alone, x, Select(lower, first, last));
}

/// One stage. The first of the state are the places that elements had at the beginning.
State Exchange(Maker& make, const Order& order, llvm::ArrayRef<Expr> state, const Expr& mask) {
  if (order.numbers) return {ExchangeNumbers(state[0], *order.numbers, mask)};
  Computation& comparator = *order.comparator;
  const int64_t rows = state[0].dim(0), length = state[0].dim(1);
  const Expr place = IotaOf(make, kSortIndex, {length}, 0);
  const Expr partner = place ^ mask;
  State others;
  for (const Expr& mine : state) others.push_back(AtPlaces(mine, partner));
  const llvm::ArrayRef<Expr> all(others);
  const Expr before = Before(make, comparator, state.drop_front(), all.drop_front()),
             behind = Before(make, comparator, all.drop_front(), state.drop_front());
  const Expr first = Select(Ne(before, behind), before, Lt(state[0], others[0]));
  const Expr lower = Lt(place, partner).Broadcast({rows, length}, {1});
  const Expr alone = Ge(partner, Expr(length)).Broadcast({rows, length}, {1});
  const Expr stays = Eq(first, lower) | alone;
  State next;
  for (const auto& [mine, other] : llvm::zip(state, others)) next.push_back(Select(stays, mine, other));
  return next;
}

/// Stages one after the other. Two of them make a round of the loop, so that none is copied: where there is
/// one too many, all elements of another meet themselves.
State Exchanges(Maker& make, const Order& order, State state, std::vector<int32_t> masks) {
  if (masks.size() == 1)
    return Exchange(make, order, state, Expr(make, make.ScalarInt(kSortIndex, masks[0])));
  if (masks.size() % 2 != 0) masks.push_back(0);
  const auto rounds = static_cast<int64_t>(masks.size()) / 2;
  Literal table = Literal::Make(Shape::Array(kSortIndex, {rounds, 2}));
  std::memcpy(table.MutableData(), masks.data(), table.byte_size());
  state.insert(state.begin(), Expr(make, make.Constant(std::move(table))));
  state = CountedLoop(make, "sort", rounds, state, [&](Maker& inside, const Expr& i, llvm::ArrayRef<Expr> s) {
    const Expr pair = DynamicSliceOf(s[0], {i, 0}, {1, 2});
    State next(s.drop_front().begin(), s.end());
    for (const int64_t k : {0, 1}) next = Exchange(inside, order, next, pair.Slice(1, k, k + 1).Reshape({}));
    next.insert(next.begin(), s[0]);
    return next;
  });
  state.erase(state.begin());
  return state;
}

/// Sorts of rows, without more.
State SortOf(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> operands, bool merges = false) {
  llvm::SmallVector<Instruction*, 4> of(operands.begin(), operands.end());
  SortAttrs attrs;
  attrs.dimensions = {1};
  attrs.is_stable = true;
  const Expr sorted(make, make.Add(OpKind::Sort, of, std::move(attrs), {&comparator}));
  if (merges) sorted.inst()->MutableExtras().backend_config = kernel::kMerge;
  State results;
  if (!sorted.shape().IsTuple()) return {sorted};
  for (size_t k = 0; k < operands.size(); ++k) results.push_back(sorted.Gte(static_cast<int64_t>(k)));
  return results;
}

/// Elements [first, last) of all rows, in rows of their own.
State SortedTiles(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> state, int64_t first,
                  int64_t last, int64_t tile, bool merges) {
  const int64_t rows = state[0].dim(0);
  State parts;
  for (const Expr& x : state)
    parts.push_back(x.Slice(1, first, last).Reshape({rows * ((last - first) / tile), tile}));
  if (tile > 1) parts = SortOf(make, comparator, parts, merges);
  for (Expr& part : parts) part = part.Reshape({rows, last - first});
  return parts;
}

/// Sorts all tiles, the last of which may be shorter; `merges`: of runs that a merge has ordered as far as
/// they lie in different tiles.
State SortTiles(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> state, int64_t tile, bool merges) {
  const int64_t length = state[0].dim(1), whole = length / tile * tile;
  State sorted = SortedTiles(make, comparator, state, 0, whole, tile, merges);
  if (whole == length) return sorted;
  const State rest = SortedTiles(make, comparator, state, whole, length, length - whole, merges);
  for (size_t k = 0; k < sorted.size(); ++k) sorted[k] = Concat({sorted[k], rest[k]}, 1);
  return sorted;
}

/// The comparator of elements with their places at the beginning in front of them.
Computation* WithPlaces(Maker& make, Computation& comparator) {
  Computation* both = NewComputation(make.module(), "sort_places");
  both->set_execution_thread(make.computation().execution_thread());
  Maker inside(*both);
  llvm::SmallVector<Instruction*, 6> forwards, backwards;
  const Shape place = Shape::Array(kSortIndex, {});
  const Expr mine(inside, inside.Parameter(0, place)), other(inside, inside.Parameter(1, place));
  for (Instruction* parameter : comparator.parameters())
    forwards.push_back(inside.Parameter(static_cast<int64_t>(forwards.size()) + 2, parameter->shape()));
  for (size_t i = 0; i < forwards.size(); ++i) backwards.push_back(forwards[i ^ 1]);
  const Expr before(inside, inside.Call(&comparator, forwards)),
      behind(inside, inside.Call(&comparator, backwards));
  both->set_root(Select(Ne(before, behind), before, Lt(mine, other)));
  return both;
}

Instruction* ByExchanges(Instruction* sort, int64_t tile) {
  Maker make(sort);
  const SortRows rows = *RowsOfSort(*sort);
  Computation& comparator = *sort->callee();
  State state;
  for (Instruction* operand : sort->operands()) state.push_back(AsRows({make, operand}, rows));
  const Order order{kernel::NumberOrder(*sort), &comparator};
  if (rows.length <= tile) {
    state = SortOf(make, comparator, state);
  } else {
    if (!order.numbers) state.insert(state.begin(), IotaOf(make, kSortIndex, {rows.count, rows.length}, 1));
    Computation* const tiles = tile <= 1       ? nullptr
                               : order.numbers ? &comparator
                                               : WithPlaces(make, comparator);
    if (tiles != nullptr) state = SortTiles(make, *tiles, state, tile, /*merges=*/false);
    std::vector<int32_t> masks;
    for (int64_t run = 2 * std::max<int64_t>(tile, 1); run < 2 * rows.length; run *= 2) {
      for (const int32_t mask : MasksOf(run, tile)) masks.push_back(mask);
      if (tiles == nullptr) continue;
      state = Exchanges(make, order, state, std::exchange(masks, {}));
      state = SortTiles(make, *tiles, state, tile, /*merges=*/true);
    }
    if (!masks.empty()) state = Exchanges(make, order, state, masks);
    if (!order.numbers) state.erase(state.begin());
  }
  llvm::SmallVector<Instruction*, 4> sorted;
  for (const Expr& x : state) sorted.push_back(FromRows(x, sort->operand(0)->shape(), rows));
  return sort->shape().IsTuple() ? make.Tuple(sorted) : sorted[0];
}

Result<bool> RunSortByExchanges(Module& module, const SortByExchangesOptions& options, PassContext& context) {
  const bool known = options.tile == -1 || options.tile == 0 ||
                     (options.tile > 0 && llvm::isPowerOf2_64(static_cast<uint64_t>(options.tile)));
  if (!known)
    return Error("usage-pass-option", {},
                 "option 'tile' of pass 'sort-by-exchanges': found {0}, expected -1, 0 or a power of two",
                 options.tile);
  const auto tile_of = [&](const Instruction& sort) {
    if (options.tile >= 0) return options.tile;
    const kernel::Target& target = compile::MachineOf(context).kernels;
    const int64_t whole = kernel::LongestSortedRow(sort, target);
    // Tiles of longer rows hold places, too.
    return RowsOfSort(sort)->length <= whole || kernel::NumberOrder(sort)
               ? whole
               : kernel::LongestSortedRow(sort, target, Info(kSortIndex).host_bytes());
  };
  const auto matches = [&](const Instruction& inst) {
    const auto rows = RowsOfSort(inst);
    return rows && rows->length > 1 && !IsOfShortRows(inst, *rows, tile_of(inst));
  };
  return ExpandMatches(module, context, matches, [&](Instruction* inst) -> Result<Instruction*> {
    return ByExchanges(inst, tile_of(*inst));
  });
}

}  // namespace

HLO_DEFINE_PASS(SortByExchanges, SortByExchangesOptions);

}  // namespace hlo::gpu
