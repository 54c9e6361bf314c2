#include "ir/window.h"

#include <limits>

namespace hlo {

int64_t DilatedSize(int64_t size, int64_t dilation) {
  if (size <= 0) return 0;
  int64_t result = 0;
  if (__builtin_mul_overflow(size - 1, dilation, &result) ||
      __builtin_add_overflow(result, int64_t{1}, &result))
    return std::numeric_limits<int64_t>::max();
  return result;
}

int64_t WindowOutputSize(const WindowDim& dim, int64_t base) {
  int64_t padded = DilatedSize(base, dim.base_dilation);
  if (__builtin_add_overflow(padded, dim.pad_low, &padded) ||
      __builtin_add_overflow(padded, dim.pad_high, &padded))
    return 0;
  const int64_t window = DilatedSize(dim.size, dim.window_dilation);
  if (padded <= 0 || window > padded || dim.stride <= 0) return 0;
  return (padded - window) / dim.stride + 1;
}

}  // namespace hlo
