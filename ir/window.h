// Windows of convolution, reduce-window and select-and-scatter (ops-structured §2).
#pragma once
#include <cstdint>

#include "llvm/ADT/SmallVector.h"

namespace hlo {

struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t pad_low = 0;
  int64_t pad_high = 0;
  int64_t base_dilation = 1;    // lhs_dilate
  int64_t window_dilation = 1;  // rhs_dilate
  bool reversal = false;        // rhs_reversal
  bool operator==(const WindowDim&) const = default;
};

struct Window {
  llvm::SmallVector<WindowDim, 2> dims;
  bool operator==(const Window&) const = default;
};

/// Size after dilation: 0 for 0, else (n-1)*dilation+1. Saturates.
int64_t DilatedSize(int64_t size, int64_t dilation);
/// Number of output positions over a base of the given size; 0 if the window does not fit.
int64_t WindowOutputSize(const WindowDim& dim, int64_t base);
/// Base index that window position k of output o reads, or -1 for a hole or out of bounds.
inline int64_t WindowBaseIndex(const WindowDim& dim, int64_t base, int64_t o, int64_t k) {
  int64_t p = o * dim.stride + k * dim.window_dilation - dim.pad_low;
  if (dim.base_dilation > 1) {
    if (p < 0 || p % dim.base_dilation != 0) return -1;
    p /= dim.base_dilation;
  }
  return p >= 0 && p < base ? p : -1;
}

}  // namespace hlo
