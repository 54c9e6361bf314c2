// Subnormal numbers in sums of products.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hlo::gemm {

/// While it lives the calling thread's multiplications and additions treat subnormal operands and results as
/// zero. Processors take a hundred cycles and more for each vector with a subnormal in it, which makes
/// products with the small probabilities of a softmax twenty times slower; XLA's products flush them too.
class FlushSubnormals {
 public:
#if defined(__x86_64__)
  FlushSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero); }
  ~FlushSubnormals() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
  unsigned before_;

 public:
#else
  FlushSubnormals() = default;
#endif
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;
};

}  // namespace hlo::gemm
