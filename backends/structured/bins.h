// Rows of numbers that join rows of an array, each the one of its index: histograms and sums by segments.
#pragma once
#include "ir/op.h"
#include "ir/types.h"

namespace hlo::structured {

struct BinUpdates {
  /// Rows of the array and of the updates, and numbers of a row.
  int64_t bins, count, width;
  /// add, multiply, maximum, minimum, and, or, xor.
  OpKind op;
  /// s32, u32 or s64; f32, f64 or an integer of as many bits.
  ElementType index_type, type;
  /// One number stands for all updates: of sums of single numbers.
  bool uniform;
};

/// Rows of an array, at most: negative indices of 32 bits, read without sign, are beyond them.
constexpr int64_t kMostBins = INT32_MAX;

/// Whether there are loops for rows of this width: 1, 2, 4 or 8.
bool HasBinLoops(int64_t width);

/// out[index[i]] = op(out[index[i]], updates[i]) for all i whose index is within the array. Sums of floats
/// are made in several parts, which the shapes tell alone, and these added up in order.
void JoinBins(const BinUpdates& b, const void* indices, const void* updates, void* out);

}  // namespace hlo::structured
