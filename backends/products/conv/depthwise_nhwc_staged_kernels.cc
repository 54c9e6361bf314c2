#include "backends/products/conv/depthwise_nhwc_staged_kernels.h"

#include <immintrin.h>

#include <cstring>

#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c"))), \
                             apply_to = function)

namespace hlo::gemm {
namespace {

// Each type loads those of 16 elements that are there, and stores all.

struct F32 {
  static constexpr int kBytes = 4;
  [[gnu::always_inline]] static __m512 Load(const uint8_t* p, __mmask16 mask) {
    return _mm512_maskz_loadu_ps(mask, p);
  }
  [[gnu::always_inline]] static void Store(uint8_t* p, __m512 x) { _mm512_storeu_ps(p, x); }
};
struct Bf16 {
  static constexpr int kBytes = 2;
  [[gnu::always_inline]] static __m512 Load(const uint8_t* p, __mmask16 mask) {
    const __m512i codes = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(codes, 16));
  }
  [[gnu::always_inline]] static void Store(uint8_t* p, __m512 x) {
    const __m512i bits = _mm512_castps_si512(x),
                  odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1)),
                  rounded = _mm512_add_epi32(_mm512_add_epi32(bits, odd), _mm512_set1_epi32(0x7FFF)),
                  nan = _mm512_or_si512(_mm512_and_si512(bits, _mm512_set1_epi32(INT32_MIN)),
                                        _mm512_set1_epi32(0x7FC00000));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i codes = _mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, is_nan, nan), 16);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(codes));
  }
};
struct F16 {
  static constexpr int kBytes = 2;
  [[gnu::always_inline]] static __m512 Load(const uint8_t* p, __mmask16 mask) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, p));
  }
  [[gnu::always_inline]] static void Store(uint8_t* p, __m512 x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(x, 0));
  }
};

/// F16 numbers whose upper bits are, moved down by `Down`, codes of the format whose numbers are 2^`Power`
/// times as large, but for NaN. Numbers are rounded by sums whose last place is theirs: 2^`Least` is the
/// least normal number, `Mantissa` are the bits of its significand.
template <int Down, int Power, int Least, int Mantissa, int Nan>
struct PartOfF16 {
  static constexpr int kBytes = 1;

 protected:
  [[gnu::always_inline]] static __m512 PowerOfTwo(int power) {
    return _mm512_castsi512_ps(_mm512_set1_epi32((127 + power) << 23));
  }
  [[gnu::always_inline]] static __m512 Rounded(__m512 x) {
    constexpr int kBeyondAll = 40;
    __m512i exponent = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7F800000));
    exponent = _mm512_max_epu32(exponent, _mm512_castps_si512(PowerOfTwo(Least)));
    exponent = _mm512_min_epu32(exponent, _mm512_castps_si512(PowerOfTwo(kBeyondAll)));
    const __m512 place = _mm512_castsi512_ps(exponent),
                 anchor = _mm512_mul_ps(PowerOfTwo(23 - Mantissa), _mm512_set1_ps(1.5F)),
                 rounded = _mm512_fnmadd_ps(place, anchor, _mm512_fmadd_ps(place, anchor, x));
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    return _mm512_castsi512_ps(_mm512_or_si512(_mm512_andnot_si512(sign, _mm512_castps_si512(rounded)),
                                               _mm512_and_si512(sign, _mm512_castps_si512(x))));
  }

 public:
  [[gnu::always_inline]] static void Store(uint8_t* p, __m512 x) {
    const __m512 number = Power == 0 ? Rounded(x) : _mm512_mul_ps(Rounded(x), PowerOfTwo(-Power));
    const __m256i half = _mm512_cvtps_ph(number, 0),
                  magnitude = _mm256_srli_epi16(_mm256_and_si256(half, _mm256_set1_epi16(0x7FFF)), Down),
                  code = _mm256_min_epu16(magnitude, _mm256_set1_epi16(Nan)),
                  sign = _mm256_and_si256(_mm256_srli_epi16(half, 8), _mm256_set1_epi16(0x80));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtepi16_epi8(_mm256_or_si256(code, sign)));
  }
};
struct F8E4M3Fn : PartOfF16<7, 8, -6, 3, 0x7F> {
  [[gnu::always_inline]] static __m512 Load(const uint8_t* p, __mmask16 mask) {
    const __m256i codes = _mm256_cvtepi8_epi16(_mm_maskz_loadu_epi8(mask, p)), all = _mm256_set1_epi16(0x7F),
                  half = _mm256_and_si256(_mm256_slli_epi16(codes, 7),
                                          _mm256_set1_epi16(static_cast<short>(0xBF80)));
    const __mmask16 nan = _mm256_cmpeq_epi16_mask(_mm256_and_si256(codes, all), all);
    const __m256i number = _mm256_mask_add_epi16(half, nan, half, _mm256_set1_epi16(0x7E00 - 0x3F80));
    return _mm512_mul_ps(_mm512_cvtph_ps(number), PowerOfTwo(8));
  }
};
struct F8E5M2 : PartOfF16<8, 0, -14, 2, 0x7E> {
  [[gnu::always_inline]] static __m512 Load(const uint8_t* p, __mmask16 mask) {
    return _mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_maskz_loadu_epi8(mask, p)), 8));
  }
};

template <class E>
void LoadLanes(const uint8_t* in, int64_t step, int64_t count, uint32_t mask, const int32_t* lanes,
               float* to) {
  const __m512i order = _mm512_loadu_si512(lanes);
  for (int64_t i = 0; i < count; ++i, in += step, to += kFeatureLanes)
    _mm512_storeu_ps(to, _mm512_permutexvar_ps(order, E::Load(in, static_cast<__mmask16>(mask))));
}

template <class E>
void StoreLanes(const float* from, int64_t count, int64_t used, uint8_t* out, int64_t step) {
  if (used == kFeatureLanes) {
    for (int64_t i = 0; i < count; ++i, from += kFeatureLanes, out += step)
      E::Store(out, _mm512_loadu_ps(from));
    return;
  }
  uint8_t line[kFeatureLanes * E::kBytes];
  for (int64_t i = 0; i < count; ++i, from += kFeatureLanes, out += step) {
    E::Store(line, _mm512_loadu_ps(from));
    std::memcpy(out, line, static_cast<size_t>(used) * E::kBytes);
  }
}

template <class E>
constexpr LaneCodes kLaneCodes = {&LoadLanes<E>, &StoreLanes<E>};

/// Each vector is loaded once for a line of `Taps` taps.
template <int Rows, int Taps>
[[gnu::always_inline]] inline void Block(const LaneWindows& args, int64_t first) {
  __m512 sums[Rows];
#pragma clang loop unroll(full)
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const float* in = args.in + first * args.step;
  const int64_t step = args.step;
  for (int64_t t = 0; t < args.taps; t += Taps) {
    __m512 weights[Taps];
#pragma clang loop unroll(full)
    for (int k = 0; k < Taps; ++k) weights[k] = _mm512_loadu_ps(args.weights + (t + k) * kFeatureLanes);
    const float* from = in + args.offsets[t];
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows + Taps - 1; ++i) {
      const __m512 x = _mm512_loadu_ps(from + i * step);
#pragma clang loop unroll(full)
      for (int k = 0; k < Taps; ++k)
        if (i - k >= 0 && i - k < Rows) sums[i - k] = _mm512_fmadd_ps(x, weights[k], sums[i - k]);
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i) _mm512_storeu_ps(args.sums + (first + i) * args.sums_step, sums[i]);
}

template <int Taps>
void AddLines(const LaneWindows& args) {
  constexpr int kRows = 8;
  int64_t i = 0;
  for (; i + kRows <= args.count; i += kRows) Block<kRows, Taps>(args, i);
  if (args.count - i >= 4) {
    Block<4, Taps>(args, i);
    i += 4;
  }
  if (args.count - i == 3) return Block<3, Taps>(args, i);
  if (args.count - i == 2) return Block<2, Taps>(args, i);
  if (args.count - i == 1) Block<1, Taps>(args, i);
}

}  // namespace

const LaneCodes& LaneCodesFor(LaneType type) {
  static constexpr const LaneCodes* kAll[] = {&kLaneCodes<F32>, &kLaneCodes<Bf16>, &kLaneCodes<F16>,
                                              &kLaneCodes<F8E4M3Fn>, &kLaneCodes<F8E5M2>};
  return *kAll[static_cast<size_t>(type)];
}

void AddLaneWindows(const LaneWindows& args) {
  switch (args.line_taps) {
    case 2: return AddLines<2>(args);
    case 3: return AddLines<3>(args);
    case 4: return AddLines<4>(args);
    case 5: return AddLines<5>(args);
    case 7: return AddLines<7>(args);
    default: return AddLines<1>(args);
  }
}

#pragma clang attribute pop

// Asked on any machine, so not code for the instructions of some.
std::optional<LaneType> LaneTypeOf(ElementType type) {
  switch (type) {
    case ElementType::F32: return LaneType::F32;
    case ElementType::BF16: return LaneType::Bf16;
    case ElementType::F16: return LaneType::F16;
    case ElementType::F8E4M3FN: return LaneType::F8E4M3Fn;
    case ElementType::F8E5M2: return LaneType::F8E5M2;
    default: return std::nullopt;
  }
}

}  // namespace hlo::gemm
