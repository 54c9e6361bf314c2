// Sizes of windowed ops (ops-structured §2).
#pragma once
#include "ir/infer/check.h"
#include "ir/window.h"

namespace hlo {

/// Sizes and dynamic flags, one per window dimension.
struct WindowedDims {
  Dims dims;
  llvm::SmallVector<bool, 8> dynamic;
};

/// Output sizes of a window over dimensions `base_dims` of `base`, in that order. Rejects windows of
/// another rank, sizes or strides below 1, dilations below 1 and padding that leaves less than nothing.
Result<WindowedDims> InferWindow(const Instruction& inst, const Window& window, const Shape& base,
                                 llvm::ArrayRef<int64_t> base_dims);
/// The same over all dimensions.
Result<WindowedDims> InferWindow(const Instruction& inst, const Window& window, const Shape& base);

}  // namespace hlo
