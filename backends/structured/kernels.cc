#include "backends/structured/kernels.h"

namespace hlo::structured {

const KernelSet& KernelsFor(gemm::Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case gemm::Isa::Avx512: return internal::kAvx512Kernels;
    case gemm::Isa::Avx2: return internal::kAvx2Kernels;
#endif
    default: break;
  }
  return internal::kBaselineKernels;
}

}  // namespace hlo::structured
