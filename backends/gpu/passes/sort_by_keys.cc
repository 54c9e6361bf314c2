// sort-by-keys: sorts by one key as sorts of unsigned numbers.
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a sort, stable or not, whose comparator orders by the elements of one operand as they are, becomes
// a sort of numbers that are ordered as these are, with the places in the row behind them: 32 bits if both
// fit, else 64. Numbers that are equal are the same, so that nothing else has to go along, and what comes
// first of two is their minimum. The operands are taken from their places then; the key of a total order is
// told by its number, and needs no places where it is all there is to sort. Of rows that are read at their
// beginning only, no more is made. Left alone: keys that have to be computed, lexicographic orders, types
// whose bits have another order, keys with places of more than 64 bits together, sorts of integers by their
// numbers, dynamic shapes, rows of less than `min_length` elements.
#include "backends/gpu/passes/sort_rows.h"
#include "backends/kernel/lower.h"
#include "ir/eval/sort_keys.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"

namespace hlo::gpu {
namespace {

struct SortByKeysOptions {
  int64_t min_length = 2;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static const PassOptionRow rows[] = {PassOption<&SortByKeysOptions::min_length>(
        "min_length", "elements of the rows that are sorted, at least")};
    return rows;
  }
};

ElementType UnsignedOf(int64_t bits) {
  return bits <= 8    ? ElementType::U8
         : bits <= 16 ? ElementType::U16
         : bits <= 32 ? ElementType::U32
                      : ElementType::U64;
}

struct Keys {
  SortRows rows;
  SortKey key;
  bool told = false;    // the number tells the key's element
  bool places = false;  // they stand behind the numbers
  int64_t bits = 0;     // of numbers, and of places
  int64_t place_bits = 0;
  [[nodiscard]] ElementType type() const { return UnsignedOf(bits + place_bits); }
};

std::optional<Keys> KeysOf(const Instruction& sort, int64_t min_length) {
  const auto rows = RowsOfSort(sort);
  if (!rows || rows->length < std::max<int64_t>(min_length, 2) || kernel::NumberOrder(sort)) return {};
  std::vector<SortKey> found = FindSortKeys(*sort.callee());
  if (found.size() != 1 || found[0].operand < 0 || found[0].function != nullptr) return {};
  Keys keys{.rows = *rows, .key = std::move(found[0])};
  const ElementType type = sort.operand(keys.key.operand)->shape().element_type();
  keys.bits = Info(type).bits;
  const bool known =
      IsFloat(type) ? Info(type).special == FloatSpecial::Ieee : IsIntegral(type) && !IsPred(type);
  if (!known || keys.bits < 8 || keys.bits > 64 || keys.key.type != type) return {};
  keys.told = !IsFloat(type) || (keys.key.total_order && !keys.key.merged);
  keys.places = !keys.told || sort.operand_count() > 1;
  if (keys.places) keys.place_bits = BitsOfPlaces(rows->length);
  return keys.bits + keys.place_bits <= 64 ? std::optional(std::move(keys)) : std::nullopt;
}

/// Exclusive or by this makes of the bits of x, as unsigned, numbers in the order of x, and back again with
/// `negative`, the numbers that come of negative x.
Expr FlipOf(const Expr& bits, const Expr& negative) {
  const int64_t sign = int64_t{1} << (Info(bits.type()).bits - 1);
  Maker& make = bits.make();
  const Expr all(make, make.ScalarInt(bits.type(), -1)), top(make, make.ScalarInt(bits.type(), sign));
  return Select(negative, all.Like(bits), top.Like(bits));
}

Expr SignOf(const Expr& bits) {
  Maker& make = bits.make();
  const Expr top(make, make.ScalarInt(bits.type(), int64_t{1} << (Info(bits.type()).bits - 1)));
  return Ge(bits, top.Like(bits));
}

/// Unsigned numbers of the key's width in its order.
Expr NumbersOf(const Expr& x, const Keys& keys) {
  const ElementType type = x.type(), bits = UnsignedOf(keys.bits);
  Maker& make = x.make();
  Expr numbers = type == bits ? x : x.As(bits);
  if (IsFloat(type)) {
    Expr merged = x;
    if (!keys.told) {
      // What compares as zero is +0, and all NaNs are one.
      merged =
          Select(Eq(x, FullOf(make, type, x.shape().dims(), 0)), FullOf(make, type, x.shape().dims(), 0), x);
      merged = Select(Ne(x, x),
                      FullOf(make, type, x.shape().dims(), std::numeric_limits<double>::quiet_NaN()), merged);
      numbers = merged.As(bits);
    }
    numbers = numbers ^ FlipOf(numbers, SignOf(numbers));
  } else if (IsSigned(type)) {
    numbers = numbers ^ Expr(make, make.ScalarInt(bits, int64_t{1} << (keys.bits - 1)));
  }
  if (!keys.key.descending) return numbers;
  numbers = Not(numbers);
  // Without a total order NaNs come last either way.
  if (!IsFloat(type) || keys.key.total_order) return numbers;
  const Expr last(make, make.ScalarInt(bits, -1));
  return Select(Ne(x, x), last.Like(numbers), numbers);
}

/// The other way round, where numbers tell elements.
Expr ElementsOf(Expr numbers, ElementType type, const Keys& keys) {
  if (keys.key.descending) numbers = Not(numbers);
  Maker& make = numbers.make();
  if (IsFloat(type))
    numbers = numbers ^ FlipOf(numbers, Not(SignOf(numbers)));
  else if (IsSigned(type))
    numbers = numbers ^ Expr(make, make.ScalarInt(numbers.type(), int64_t{1} << (keys.bits - 1)));
  return numbers.type() == type ? numbers : numbers.As(type);
}

/// Whether the elements of the operand are the numbers of their places in rows.
bool CountsPlaces(const Instruction& operand, const SortRows& rows) {
  if (operand.kind() == OpKind::Iota) return operand.attr<IotaAttrs>().iota_dimension == rows.dimension;
  return operand.kind() == OpKind::Broadcast && operand.operand(0)->kind() == OpKind::Iota &&
         operand.operand(0)->shape().rank() == 1 &&
         operand.attr<DimensionsAttrs>().dimensions[0] == rows.dimension;
}

Expr SortedNumbers(const Expr& numbers) {
  Maker& make = numbers.make();
  Computation* comparator = NewComputation(make.module(), "sort_numbers");
  comparator->set_execution_thread(make.computation().execution_thread());
  Maker inside(*comparator);
  const Shape scalar = Shape::ArrayWithDefaultLayout(numbers.type(), {});
  Instruction *x = inside.Parameter(0, scalar, "x"), *y = inside.Parameter(1, scalar, "y");
  comparator->set_root(inside.Compare(Direction::LT, x, y));
  SortAttrs attrs;
  attrs.dimensions = {1};
  return {make, make.Add(OpKind::Sort, {numbers}, std::move(attrs), {comparator})};
}

Instruction* ByKeys(Instruction* sort, const Keys& keys) {
  Maker make(sort);
  const SortRows& rows = keys.rows;
  const Expr x = AsRows({make, sort->operand(keys.key.operand)}, rows);
  Expr numbers = NumbersOf(x, keys).To(keys.type());
  if (keys.places)
    numbers = (numbers << keys.place_bits) | IotaOf(make, keys.type(), {rows.count, rows.length}, 1);
  Expr sorted = SortedNumbers(numbers);
  const int64_t read = ElementsRead(*sort, rows);
  if (read < rows.length) sorted = sorted.Slice(1, 0, read);
  Expr places;
  if (keys.places) places = (sorted & ((int64_t{1} << keys.place_bits) - 1)).To(kSortIndex);
  llvm::SmallVector<Instruction*, 4> results;
  for (int64_t k = 0; k < sort->operand_count(); ++k) {
    Instruction* operand = sort->operand(k);
    const ElementType type = operand->shape().element_type();
    Expr result;
    if (k == keys.key.operand && keys.told)
      result = ElementsOf((keys.places ? sorted >> keys.place_bits : sorted).To(UnsignedOf(keys.bits)), type,
                          keys);
    else if (CountsPlaces(*operand, rows))
      result = places.To(type);
    else
      result = TakeFromRows(AsRows({make, operand}, rows), places);
    results.push_back(FromRows(Filled(result, rows.length), sort->operand(0)->shape(), rows));
  }
  return sort->shape().IsTuple() ? make.Tuple(results) : results[0];
}

Result<bool> RunSortByKeys(Module& module, const SortByKeysOptions& options, PassContext& context) {
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return KeysOf(inst, options.min_length).has_value(); },
      [&](Instruction* inst) -> Result<Instruction*> {
        return ByKeys(inst, *KeysOf(*inst, options.min_length));
      });
}

}  // namespace

HLO_DEFINE_PASS(SortByKeys, SortByKeysOptions);

}  // namespace hlo::gpu
