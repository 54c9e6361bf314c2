// Kernels for processors with AVX2.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <type_traits>
#include <utility>

#include "backends/products/common/kernels.h"

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)

namespace hlo::gemm {
namespace {

struct Machine {
  static constexpr int kBytes = 32, kRows = 6, kVectors = 2;
  static constexpr bool kFused = true, kExact = true, kHalves = true, kShorts = false;
};

template <class T>
[[gnu::always_inline]] inline __m256i MaskOf(int count) {
  if constexpr (sizeof(T) == 4)
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  else
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
/// The first `count` lanes; the others are zero.
template <class V, class T>
[[gnu::always_inline]] inline V LoadPart(const T* p, int count) {
  const __m256i mask = MaskOf<T>(count);
  if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(V, _mm256_maskload_epi32(reinterpret_cast<const int*>(p), mask));
  else
    return __builtin_bit_cast(V, _mm256_maskload_epi64(reinterpret_cast<const long long*>(p), mask));
}
template <class V, class T>
[[gnu::always_inline]] inline void StorePart(T* p, const V& v, int count) {
  const __m256i mask = MaskOf<T>(count);
  if constexpr (sizeof(T) == 4)
    _mm256_maskstore_epi32(reinterpret_cast<int*>(p), mask, __builtin_bit_cast(__m256i, v));
  else
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(p), mask, __builtin_bit_cast(__m256i, v));
}

#include "backends/products/common/load_codes.inc"

/// Lane i of the result is lane lanes[i] of `v`.
template <class V, class L>
[[gnu::always_inline]] inline V Permute(const V& v, const L& lanes) {
  __m256i words = __builtin_bit_cast(__m256i, lanes);
  if constexpr (sizeof(v[0]) == 8) {
    const __m256i low = _mm256_slli_epi64(words, 1);
    words = _mm256_or_si256(low, _mm256_slli_epi64(_mm256_add_epi64(low, _mm256_set1_epi64x(1)), 32));
  }
  return __builtin_bit_cast(V, _mm256_permutevar8x32_epi32(__builtin_bit_cast(__m256i, v), words));
}

#include "backends/products/common/kernel_bodies.inc"

}  // namespace

const KernelSet internal::kAvx2Kernels = MakeKernelSet();

}  // namespace hlo::gemm

#pragma clang attribute pop
