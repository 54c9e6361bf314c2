// Reductions of all elements up to each one along a dimension, or from each one on, as reduce-window
// (ops-structured §2): cumulative sums and the like.
#pragma once
#include <optional>

#include "ir/instruction.h"
#include "ir/window.h"

namespace hlo {

/// Which elements are reduced for each element of one dimension.
struct Prefix {
  int64_t dimension = 0;
  bool reverse = false;    // those from it on instead of those up to it
  bool exclusive = false;  // without the element itself
};
/// The window along a dimension of n elements.
WindowDim WindowOf(const Prefix& prefix, int64_t n);
/// What the reduce-window reduces, if it is that along one dimension and nothing along the others.
std::optional<Prefix> MatchPrefix(const Instruction& reduce_window);

/// A prefix reduction along the last dimension, longer than what windows are for, that may be grouped at
/// will: sums, products and extremes of plain numbers, bits of integers, logarithms of sums of exponentials.
/// The init counts once.
bool IsRowScan(const Instruction& inst);

}  // namespace hlo
