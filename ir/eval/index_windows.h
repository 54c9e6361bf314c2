// The index side of gather and scatter: where in the operand the window of each index row starts.
#pragma once
#include <optional>

#include "ir/literal.h"

namespace hlo {

/// Dimension numbers that gather and scatter share, in gather's words.
struct WindowNumbers {
  llvm::ArrayRef<int64_t> window_dims;       // of the result (updates), in order
  llvm::ArrayRef<int64_t> collapsed_dims;    // operand dimensions without a window dimension
  llvm::ArrayRef<int64_t> batching_dims;     // of the operand
  llvm::ArrayRef<int64_t> index_batching;    // the dimensions of the indices that go with them
  llvm::ArrayRef<int64_t> start_index_map;   // operand dimension of each index component
  int64_t index_vector_dim;
};

/// Walks over the index rows in row-major order. A row has a start in the operand and a place in the
/// result (gather) or updates (scatter), whose shape is `target`.
class IndexWindows {
 public:
  IndexWindows(const WindowNumbers& numbers, const Shape& operand, const Literal& indices, const Literal& target,
               llvm::ArrayRef<int64_t> window_sizes);

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
    Dims index = RowIndex(begin);
    for (int64_t row = begin; row < end; ++row) {
      f(At(index, clamp));
      Next(index);
    }
  }

 private:
  struct BatchDim {  // dimension of the indices other than index_vector_dim
    int64_t size, valid;          // bound and run-time size
    int64_t index_stride, target_stride;
  };
  struct OperandDim {
    int64_t limit;   // largest start
    int64_t stride;
  };
  [[nodiscard]] Dims RowIndex(int64_t row) const;
  void Next(Dims& index) const;
  [[nodiscard]] Row At(llvm::ArrayRef<int64_t> index, bool clamp) const;

  Literal indices_;  // S64
  const int64_t* data_;
  int64_t component_stride_ = 1;
  int64_t row_count_ = 1;
  llvm::SmallVector<BatchDim, 4> batch_;
  llvm::SmallVector<OperandDim, 4> operand_;       // all operand dimensions
  llvm::SmallVector<int64_t, 4> components_;       // start_index_map
  struct Batching { int64_t batch, operand_dim; };
  llvm::SmallVector<Batching, 2> batching_;        // batch: index into batch_
  llvm::SmallVector<WindowDim, 4> window_;
};

}  // namespace hlo
