// Kernels for every processor of this kind.
#include <algorithm>
#include <bit>
#include <complex>
#include <type_traits>
#include <utility>

#include "backends/products/common/kernels.h"
#include "ir/support/cpu_features.h"

namespace hlo::gemm {
namespace {

#if defined(__aarch64__)  // twice as many registers, and conversions of halves
struct Machine {
  static constexpr int kBytes = 16, kRows = 8, kVectors = 2;
  static constexpr bool kFused = kAlwaysFused, kExact = false, kHalves = true, kShorts = true;
};
#else
struct Machine {
  static constexpr int kBytes = 16, kRows = 4, kVectors = 2;
  static constexpr bool kFused = kAlwaysFused, kExact = false, kHalves = false, kShorts = false;
};
#endif

/// The first `count` lanes; the others are zero.
template <class V, class T>
[[gnu::always_inline]] inline V LoadPart(const T* p, int count) {
  V v = V(T(0));
  for (int i = 0; i < count; ++i) v[i] = p[i];
  return v;
}
template <class V, class T>
[[gnu::always_inline]] inline void StorePart(T* p, const V& v, int count) {
  for (int i = 0; i < count; ++i) p[i] = v[i];
}

#include "backends/products/common/load_codes.inc"

/// Lane i of the result is lane lanes[i] of `v`.
template <class V, class L>
[[gnu::always_inline]] inline V Permute(const V& v, const L& lanes) {
  V result;
  for (int i = 0; i < static_cast<int>(sizeof v / sizeof v[0]); ++i) result[i] = v[lanes[i]];
  return result;
}

#include "backends/products/common/kernel_bodies.inc"

}  // namespace

const KernelSet internal::kBaselineKernels = MakeKernelSet();

}  // namespace hlo::gemm
