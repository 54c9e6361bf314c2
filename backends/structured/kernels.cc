#include "backends/structured/kernels.h"

namespace hlo::structured {

const KernelSet& KernelsFor(gemm::Isa isa) {
  switch (isa) {
    case gemm::Isa::Avx512: return internal::avx512_kernels;
    case gemm::Isa::Avx2: return internal::avx2_kernels;
    case gemm::Isa::Baseline: break;
  }
  return internal::baseline_kernels;
}

}  // namespace hlo::structured
