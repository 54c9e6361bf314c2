// What expansions of sorts share: the rows that are sorted, as arrays [rows, elements].
#pragma once
#include <optional>

#include "passes/rewrite/expr.h"

namespace hlo::gpu {

/// Of places in rows.
inline constexpr ElementType kSortIndex = ElementType::S32;

/// Rows of elements that are sorted, however they lie in the operands.
struct SortRows {
  int64_t dimension, count, length;
};
/// Nothing for what is no sort, has dynamic shapes, no elements, or more than kSortIndex counts.
std::optional<SortRows> RowsOfSort(const Instruction& inst);

/// How many elements of each row anybody reads, from its beginning on; at least one.
int64_t ElementsRead(const Instruction& sort, const SortRows& rows);
/// Rows of `length` elements that begin with those of x, [rows, elements].
Expr Filled(const Expr& x, int64_t length);
/// The least number that counts the elements of a row is of so many bits.
int64_t BitsOfPlaces(int64_t length);
/// Elements of x, [rows, elements], at places in their rows, [rows, places].
Expr TakeFromRows(const Expr& x, const Expr& places);

/// An operand as [rows, elements].
Expr AsRows(const Expr& operand, const SortRows& rows);
/// Such an array in the shape of an operand again.
Expr FromRows(const Expr& sorted, const Shape& operand, const SortRows& rows);

/// What the comparator of a sort says of all elements of pairs (x0, y0, x1, y1, …), arrays of equal sizes.
Expr ByComparator(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> pairs);

}  // namespace hlo::gpu
