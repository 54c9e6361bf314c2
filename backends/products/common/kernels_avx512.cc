// Kernels for processors with AVX512.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <type_traits>
#include <utility>

#include "backends/products/common/kernels.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c"))), \
                             apply_to = function)

namespace hlo::gemm {
namespace {

struct Machine {
  static constexpr int kBytes = 64, kRows = 8, kVectors = 3;
  static constexpr bool kFused = true, kExact = true, kHalves = true, kShorts = true;
};

/// The first `count` lanes; the others are zero.
template <class V, class T>
[[gnu::always_inline]] inline V LoadPart(const T* p, int count) {
  const auto mask = (uint64_t{1} << static_cast<unsigned>(count)) - 1;
  if constexpr (sizeof(T) == 2)
    return __builtin_bit_cast(V, _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), p));
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(V, _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), p));
  else
    return __builtin_bit_cast(V, _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), p));
}
template <class V, class T>
[[gnu::always_inline]] inline void StorePart(T* p, const V& v, int count) {
  const auto mask = (uint64_t{1} << static_cast<unsigned>(count)) - 1;
  if constexpr (sizeof(T) == 2)
    _mm512_mask_storeu_epi16(p, static_cast<__mmask32>(mask), __builtin_bit_cast(__m512i, v));
  else if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>(mask), __builtin_bit_cast(__m512i, v));
  else
    _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(mask), __builtin_bit_cast(__m512i, v));
}

/// The same of elements of one or two bytes.
template <class V, class W>
[[gnu::always_inline]] inline V LoadCodes(const W* p, int count) {
  const auto lanes = (uint64_t{1} << static_cast<unsigned>(count)) - 1;
  const auto mask = static_cast<__mmask16>(lanes);
  if constexpr (sizeof(V) == 32 && sizeof(W) == 1)
    return __builtin_bit_cast(V, _mm256_maskz_loadu_epi8(static_cast<__mmask32>(lanes), p));
  else if constexpr (sizeof(W) == 1)
    return __builtin_bit_cast(V, _mm_maskz_loadu_epi8(mask, p));
  else
    return __builtin_bit_cast(V, _mm256_maskz_loadu_epi16(mask, p));
}
/// Lane i of the result is lane lanes[i] of `v`.
template <class V, class L>
[[gnu::always_inline]] inline V Permute(const V& v, const L& lanes) {
  if constexpr (sizeof(v[0]) == 2)
    return __builtin_bit_cast(
        V, _mm512_permutexvar_epi16(__builtin_bit_cast(__m512i, lanes), __builtin_bit_cast(__m512i, v)));
  else if constexpr (sizeof(v[0]) == 4)
    return __builtin_bit_cast(
        V, _mm512_permutexvar_epi32(__builtin_bit_cast(__m512i, lanes), __builtin_bit_cast(__m512i, v)));
  else
    return __builtin_bit_cast(
        V, _mm512_permutexvar_epi64(__builtin_bit_cast(__m512i, lanes), __builtin_bit_cast(__m512i, v)));
}

#include "backends/products/common/kernel_bodies.inc"

}  // namespace

const KernelSet internal::kAvx512Kernels = MakeKernelSet();

}  // namespace hlo::gemm

#pragma clang attribute pop
