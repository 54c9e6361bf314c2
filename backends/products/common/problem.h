// What is multiplied and added: sums of products of two operands' elements.
#pragma once
#include <optional>
#include <vector>

#include "backends/products/common/index.h"
#include "ir/eval/compute_type.h"
#include "ir/types.h"

namespace hlo {
class Instruction;
}  // namespace hlo

namespace hlo::gemm {

/// Row r and tap t read position base + row.At(r) + tap.At(t) of a dimension of `size` elements; outside they
/// read zero.
struct Bound {
  Index row, tap;
  int64_t base, size;
};

/// An array seen as rows of steps: element (row, tap, channel) of a batch lies at
/// base + batch + row + tap + channel * channel_stride. Offsets count elements.
struct Operand {
  ElementType type = ElementType::F32;
  Index batch, rows, taps;
  int64_t base = 0, channel_stride = 1;
  llvm::SmallVector<Bound, 0> bounds;
};

/// One spatial dimension of a convolution: output o and tap k read position base + o * per_output + k *
/// per_tap of `size`. Strides count elements.
struct WindowDimension {
  int64_t outputs, taps, base, per_output, per_tap, size;
  int64_t lhs_stride, rhs_stride, out_stride;
};
/// How the rows and taps of a convolution come about: images x outputs, and taps.
struct Windows {
  int64_t images = 1, lhs_image = 0, out_image = 0;
  llvm::SmallVector<WindowDimension, 2> dims;
};

/// result(row, column) = sum over taps and channels of lhs(row, …) * rhs(column, …), in the arithmetic of
/// `type` with sums in `compute`, for each batch; it lies at out_base + batch + row + column.
struct Problem {
  Operand lhs, rhs;
  int64_t channels = 1;
  bool channels_outer = false;  // the order of the sum: all taps of a channel, or all channels of a tap
  Index out_batch, out_rows, out_columns;
  int64_t out_base = 0;
  ElementType type = ElementType::F32;
  ComputeType compute = ComputeType::F32;
  std::optional<Windows> windows;  // convolutions; rows and taps say the same
  /// The convolution that this is all of, for libraries; null: none.
  const Instruction* convolution = nullptr;

  [[nodiscard]] int64_t taps() const { return lhs.taps.count(); }
  [[nodiscard]] int64_t depth() const { return taps() * channels; }
  [[nodiscard]] int64_t rows() const { return lhs.rows.count(); }
  [[nodiscard]] int64_t columns() const { return rhs.rows.count(); }
  [[nodiscard]] int64_t batches() const { return out_batch.count(); }
  /// Exchanges the factors, so that columns become rows.
  void Exchange() {
    std::swap(lhs, rhs);
    std::swap(out_rows, out_columns);
  }
};

/// Rows [begin, end) of the result of one batch.
struct Rows {
  int64_t batch, begin, end;
};

/// A box of steps that are multiplied at a time.
struct Block {
  int64_t tap_begin, tap_end, channel_begin, channel_end;
  [[nodiscard]] int64_t taps() const { return tap_end - tap_begin; }
  [[nodiscard]] int64_t channels() const { return channel_end - channel_begin; }
  [[nodiscard]] int64_t depth() const { return taps() * channels(); }
};

/// All steps of a problem in the order of the sum, in blocks of at most `depth`, by preference multiples of
/// `unit`.
std::vector<Block> CutSteps(const Problem& problem, int64_t depth, int64_t unit);

}  // namespace hlo::gemm
