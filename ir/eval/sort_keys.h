// Comparators of sort as key functions: most programs order elements by numbers computed from each.
#pragma once
#include <memory>
#include <vector>

#include "ir/eval/scalar_function.h"
#include "ir/literal.h"

namespace hlo {

/// One level of a lexicographic order: elements are ordered by f(left operands' elements).
struct SortKey {
  int operand = -1;                                // the key is this operand's element itself, or
  std::shared_ptr<const ScalarFunction> function;  // a function of all operands' elements
  ElementType type = ElementType::Pred;            // of the key
  bool total_order = false;                        // floats by bits: -NaN < -inf … -0 < +0 … < NaN
  bool merged = false;  // then all NaNs count as one of these, last, and what compares as zero as +0
  bool descending = false;
};

/// The keys, most significant first, if the comparator is
///   compare(k(left), k(right)), direction=LT or GT, or
///   or(compare(k(left), k(right)), and(compare(k(left), k(right)), direction=EQ, …next level…))
/// with the same k on both sides; empty if it is anything else. The functions refer to nothing of the module.
/// A total order is known by its attribute or by the integers that passes make of it, a merged one by
/// selects of constants where k differs from itself or equals zero.
std::vector<SortKey> FindSortKeys(const Computation& comparator);

/// The least magnitude, as a code, that counts as above zero in the key: comparisons decide unless the order
/// is total and not merged; for them subnormals of F32, F64 and BF16 are zeros (errata-ops 26).
uint64_t LeastAboveZero(const SortKey& key);

/// Maps n elements of the key to unsigned numbers ordered as the elements are (descending: reversed).
/// Elements that compare as equal get equal numbers; in the partial order of floats NaNs come last.
void OrderedNumbers(const SortKey& key, const void* elements, int64_t n, uint64_t* out);

}  // namespace hlo
