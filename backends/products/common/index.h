// Positions of loop nests as offsets into arrays.
#pragma once
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo::gemm {

/// One loop: its extent and the distance between neighbours.
struct Axis {
  int64_t size, stride;
};

/// The positions of nested loops, the last one fastest, numbered from 0.
class Index {
 public:
  /// One position at offset 0.
  Index() = default;
  explicit Index(llvm::ArrayRef<Axis> axes);

  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] int64_t At(int64_t position) const;
  /// out[i] = offset of position begin + i, for i < count.
  void Fill(int64_t begin, int64_t count, int64_t* out) const;
  /// The distance of all neighbours is the same, stride().
  [[nodiscard]] bool IsUniform() const { return axes_.size() <= 1; }
  /// The distance of neighbours along the fastest loop; 1 if there is but one position.
  [[nodiscard]] int64_t stride() const { return axes_.empty() ? 1 : axes_.back().stride; }
  /// How many neighbours follow one another at stride().
  [[nodiscard]] int64_t run() const { return axes_.empty() ? 1 : axes_.back().size; }
  /// The same from a position on.
  [[nodiscard]] int64_t RunFrom(int64_t position) const { return run() - position % run(); }

 private:
  llvm::SmallVector<Axis, 3> axes_;  // neighbours merged where possible, none of size 1
  int64_t count_ = 1;
};

}  // namespace hlo::gemm
