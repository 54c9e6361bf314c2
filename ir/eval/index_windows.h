// The index side of gather and scatter: where in the operand the window of each index row starts.
#pragma once
#include <algorithm>

#include "ir/literal.h"

namespace hlo {

/// Dimension numbers that gather and scatter share, in gather's words.
struct WindowNumbers {
  llvm::ArrayRef<int64_t> window_dims;      // of the result (updates), in order
  llvm::ArrayRef<int64_t> collapsed_dims;   // operand dimensions without a window dimension
  llvm::ArrayRef<int64_t> batching_dims;    // of the operand
  llvm::ArrayRef<int64_t> index_batching;   // the dimensions of the indices that go with them
  llvm::ArrayRef<int64_t> start_index_map;  // operand dimension of each index component
  int64_t index_vector_dim;
};

/// Walks over the index rows in row-major order. A row has a start in the operand and a place in the
/// result (gather) or updates (scatter), whose shape is `target`.
class IndexWindows {
 public:
  IndexWindows(const WindowNumbers& numbers, const Shape& operand, const Literal& indices,
               const Literal& target, llvm::ArrayRef<int64_t> window_sizes);

  [[nodiscard]] int64_t row_count() const { return row_count_; }
  /// The window: its dimensions with strides in the target and in the operand, of size above 0.
  struct WindowDim {
    int64_t size, target_stride, operand_stride;
  };
  [[nodiscard]] llvm::ArrayRef<WindowDim> window() const { return window_; }

  struct Row {
    int64_t target_offset;
    int64_t operand_offset;
    bool inside;  // the whole window lies in the operand and the row is not padding
  };
  /// Calls f(row) for the rows [begin, end). With `clamp` starts are moved so that windows fit;
  /// without, operand_offset is only set where the window is inside.
  template <class F>
  void ForEachRow(int64_t begin, int64_t end, bool clamp, F f) const {
    // The last dimension of the indices is walked by itself, the others once for each turn of it.
    const BatchDim inner = batch_.empty() ? BatchDim{1, 1, 0, 0} : batch_.back();
    for (int64_t row = begin; row < end;) {
      const int64_t first = row % inner.size, last = std::min(inner.size, first + end - row);
      const Outer outer = OuterAt(row / inner.size);
      for (int64_t i = first; i < last; ++i) f(At(outer, i, inner, clamp));
      row += last - first;
    }
  }

 private:
  struct BatchDim {       // dimension of the indices other than index_vector_dim
    int64_t size, valid;  // bound and run-time size
    int64_t index_stride, target_stride;
  };
  /// What the index dimensions but the last contribute.
  struct Outer {
    int64_t target_offset = 0, index_offset = 0, operand_offset = 0;
    bool valid = true;
  };
  [[nodiscard]] Outer OuterAt(int64_t row) const;
  [[nodiscard]] Row At(const Outer& outer, int64_t i, const BatchDim& inner, bool clamp) const {
    const int64_t* index = data_ + outer.index_offset + i * inner.index_stride;
    Row row{outer.target_offset + i * inner.target_stride, outer.operand_offset + i * inner_operand_stride_,
            outer.valid && i < inner.valid};
    for (const Component& c : components_) {
      int64_t start = *index;
      index += component_stride_;
      if (clamp)
        start = std::clamp<int64_t>(start, 0, c.limit);
      else if (start < 0 || start > c.limit)
        row.inside = false;
      if (row.inside || clamp) row.operand_offset += start * c.stride;
    }
    return row;
  }

  Literal indices_;  // S64
  const int64_t* data_;
  int64_t component_stride_ = 1;
  int64_t row_count_ = 1;
  llvm::SmallVector<BatchDim, 4> batch_;
  struct Component {  // of an index vector
    int64_t limit;    // largest start
    int64_t stride;   // of its operand dimension
  };
  llvm::SmallVector<Component, 4> components_;
  llvm::SmallVector<int64_t, 4> operand_strides_;  // per batch_: of the operand's batching dimension, or 0
  int64_t inner_operand_stride_ = 0;               // the last of them
  llvm::SmallVector<WindowDim, 4> window_;
};

}  // namespace hlo
