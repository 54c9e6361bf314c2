#include "backends/products/common/kernels.h"

#include "backends/products/common/vnni_kernels.h"
#include "ir/support/cpu_features.h"

namespace hlo::gemm {

const KernelSet& KernelsFor(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::Avx512: return internal::kAvx512Kernels;
    case Isa::Avx2: return internal::kAvx2Kernels;
#endif
    default: break;
  }
  return internal::kBaselineKernels;
}

Isa HostIsa() {
  static const Isa isa = [] {
    if (HasCpuFeatures({"avx512f", "avx512dq", "avx512bw", "avx512vl"})) return Isa::Avx512;
    if (HasCpuFeatures({"avx2", "fma"})) return Isa::Avx2;
    return Isa::Baseline;
  }();
  return isa;
}

#if !defined(__x86_64__)
const GroupKernels* TileRegisterKernels() { return nullptr; }
const GroupKernels* PairKernels() { return nullptr; }
#if !defined(__aarch64__)
const GroupKernels* FourKernels() { return nullptr; }
#endif
#endif

}  // namespace hlo::gemm
