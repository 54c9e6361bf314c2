// Arrays along the dimensions of the scores of an attention.
#pragma once
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo::gpu {

/// A dimension of an array that goes along with one of the scores, or a part of it or several: from one
/// element to the next so many scores further, as they lie row by row, and so many elements in the array.
struct AlongScores {
  int64_t size, scores, stride;
};
/// All of an array.
using ArrayAlong = llvm::SmallVector<AlongScores, 6>;

/// The same elements for all scores, in whatever order the dimensions are.
bool AreEqual(const ArrayAlong& a, const ArrayAlong& b);

/// A dimension that is one for all of several arrays.
struct ScoreAxis {
  int64_t size, scores;
  llvm::SmallVector<int64_t, 8> strides;  // by array; 0: it is the same everywhere
};

/// The fewest dimensions that the scores can be seen with, the outermost first. `sections` ascend from 1 to
/// the number of scores: no dimension goes across one. Nothing where arrays cut scores across each other.
std::optional<llvm::SmallVector<ScoreAxis, 6>> AxesOf(llvm::ArrayRef<ArrayAlong> arrays,
                                                      llvm::ArrayRef<int64_t> sections);

}  // namespace hlo::gpu
