#include "backends/gemm/kernels.h"

namespace hlo::gemm {

const KernelSet& KernelsFor(Isa isa) {
  switch (isa) {
    case Isa::Avx512: return internal::avx512_kernels;
    case Isa::Avx2: return internal::avx2_kernels;
    case Isa::Baseline: break;
  }
  return internal::baseline_kernels;
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
