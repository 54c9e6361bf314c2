// Which base elements the windows of many outputs read.
#pragma once
#include <vector>

#include "ir/shape.h"
#include "ir/window.h"

namespace hlo {

/// A window over a base of given sizes; positions are numbered in row-major order.
class WindowIndex {
 public:
  WindowIndex(const Window& window, llvm::ArrayRef<int64_t> base, llvm::ArrayRef<int64_t> outputs);
  [[nodiscard]] int64_t position_count() const { return positions_; }

  /// One in-bounds read: the output's number, and the base element's.
  struct Read {
    int64_t output, base;
  };

  /// A run of outputs (row-major numbers) that are looked at together.
  class Block {
   public:
    Block(const WindowIndex& index, int64_t begin, int64_t end);
    /// What the outputs read at a window position; those without an in-bounds element are left out.
    /// Valid until the next call.
    llvm::ArrayRef<Read> InBounds(int64_t position);

   private:
    const WindowIndex& index_;
    int64_t begin_;
    std::vector<int64_t> coordinates_;  // of each output
    std::vector<Read> reads_;
    llvm::SmallVector<int64_t> window_;
  };

 private:
  const Window& window_;
  llvm::SmallVector<int64_t> base_, strides_, outputs_;
  int64_t positions_ = 1;
};

/// Positions of select-and-scatter in the order in which they are looked at, which decides ties. It is
/// row-major, except that the last position of a dimension is looked at after all others if either it or all
/// before it are in bounds for every output but not both; the last dimension is divided first (so do XLA's
/// loops).
std::vector<int64_t> SelectionOrder(const Window& window, llvm::ArrayRef<int64_t> base,
                                    llvm::ArrayRef<int64_t> outputs);

}  // namespace hlo
