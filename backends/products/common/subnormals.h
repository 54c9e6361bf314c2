// Subnormal numbers in sums of products.
#pragma once
#include "ir/support/float_control.h"

namespace hlo::gemm {

/// While it lives the calling thread's multiplications and additions treat subnormal operands and results as
/// zero. Processors take a hundred cycles and more for each vector with a subnormal in it, which makes
/// products with the small probabilities of a softmax twenty times slower; XLA's products flush them too.
class FlushSubnormals {
 public:
  FlushSubnormals() : before_(FloatControl()) { SetFloatControl(before_ | kSubnormalsAreZero); }
  ~FlushSubnormals() { SetFloatControl(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  uint64_t before_;
};

}  // namespace hlo::gemm
