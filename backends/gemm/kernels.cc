#include "backends/gemm/kernels.h"

namespace hlo::gemm {

const KernelSet& KernelsFor(Isa isa) {
  switch (isa) {
    case Isa::Avx512: return internal::kAvx512Kernels;
    case Isa::Avx2: return internal::kAvx2Kernels;
    case Isa::Baseline: break;
  }
  return internal::kBaselineKernels;
}

Isa HostIsa() {
  static const Isa isa = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
      return Isa::Avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::Avx2;
    return Isa::Baseline;
  }();
  return isa;
}

}  // namespace hlo::gemm
