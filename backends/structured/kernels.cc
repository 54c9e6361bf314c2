#include "backends/structured/kernels.h"

namespace hlo::structured {

const KernelSet& KernelsFor(gemm::Isa isa) {
  switch (isa) {
    case gemm::Isa::Avx512: return internal::kAvx512Kernels;
    case gemm::Isa::Avx2: return internal::kAvx2Kernels;
    case gemm::Isa::Baseline: break;
  }
  return internal::kBaselineKernels;
}

}  // namespace hlo::structured
