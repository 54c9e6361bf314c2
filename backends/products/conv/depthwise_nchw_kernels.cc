#include "backends/products/conv/depthwise_nchw_kernels.h"

#include <immintrin.h>

#include <type_traits>

#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c"))), \
                             apply_to = function)

namespace hlo::gemm {
namespace {

// Each kind loads kLanes elements, `Step` apart, of which those are there whose bits are set in a mask by
// neighbours.

struct Floats {
  using Sum = __m512;
  using Weight = float;
  using Out = float;
  static constexpr int kLanes = 16;
  [[gnu::always_inline]] static Sum Zero() { return _mm512_setzero_ps(); }
  [[gnu::always_inline]] static Sum Splat(Weight w) { return _mm512_set1_ps(w); }
  [[gnu::always_inline]] static Sum Add(Sum sum, Sum x, Sum w) { return _mm512_fmadd_ps(x, w, sum); }
  [[gnu::always_inline]] static void Store(Out* out, Sum sum) { _mm512_storeu_ps(out, sum); }
  [[gnu::always_inline]] static void StorePart(Out* out, Sum sum, int64_t count) {
    _mm512_mask_storeu_ps(out, static_cast<__mmask16>((1U << static_cast<unsigned>(count)) - 1), sum);
  }
};
struct F32 : Floats {
  static constexpr int kBytes = 4;
  template <int Step>
  [[gnu::always_inline]] static Sum Load(const uint8_t* p, uint64_t mask) {
    const Sum low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), p);
    if constexpr (Step == 1) return low;
    const Sum high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16U), p + 64);
    return _mm512_permutex2var_ps(low, Even(), high);
  }
  [[gnu::always_inline]] static void LoadBoth(const uint8_t* p, uint64_t mask, Sum& even, Sum& odd) {
    const Sum low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), p),
              high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16U), p + 64);
    even = _mm512_permutex2var_ps(low, Even(), high);
    odd = _mm512_permutex2var_ps(low, _mm512_add_epi32(Even(), _mm512_set1_epi32(1)), high);
  }

 private:
  [[gnu::always_inline]] static __m512i Even() {
    return _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  }
};
struct Bf16ToF32 : Floats {
  static constexpr int kBytes = 2;
  template <int Step>
  [[gnu::always_inline]] static Sum Load(const uint8_t* p, uint64_t mask) {
    __m512i codes;
    if constexpr (Step == 1)
      codes = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(mask), p));
    else
      codes = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), p);
    return _mm512_castsi512_ps(_mm512_slli_epi32(codes, 16));
  }
  [[gnu::always_inline]] static void LoadBoth(const uint8_t* p, uint64_t mask, Sum& even, Sum& odd) {
    const __m512i codes = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), p);
    even = _mm512_castsi512_ps(_mm512_slli_epi32(codes, 16));
    odd = _mm512_castsi512_ps(_mm512_and_si512(codes, _mm512_set1_epi32(-0x10000)));
  }
};
/// To the nearest, in the upper half of lanes; what are no NaNs.
[[gnu::always_inline]] inline __m512i RoundBf16(__m512 sum) {
  const __m512i bits = _mm512_castps_si512(sum),
                odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
}
/// The same with the NaN for NaNs.
[[gnu::noinline, gnu::cold]] __m512i RoundBf16OrNan(__m512 sum) {
  const __m512i sign = _mm512_and_si512(_mm512_castps_si512(sum), _mm512_set1_epi32(INT32_MIN));
  return _mm512_mask_or_epi32(RoundBf16(sum), _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q), sign,
                              _mm512_set1_epi32(0x7FC00000));
}
struct Bf16 : Bf16ToF32 {
  using Out = uint16_t;
  [[gnu::always_inline]] static void Store(Out* out, Sum sum) { StorePart(out, sum, kLanes); }
  [[gnu::always_inline]] static void StorePart(Out* out, Sum sum, int64_t count) {
    const bool nans = _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q) != 0;
    const __m512i codes = nans ? RoundBf16OrNan(sum) : RoundBf16(sum);
    _mm256_mask_storeu_epi16(out, static_cast<__mmask16>((1U << static_cast<unsigned>(count)) - 1),
                             _mm512_cvtepi32_epi16(_mm512_srli_epi32(codes, 16)));
  }
};
/// Elements of even and odd places apart: the halves of 32 bits, which are floats as they are.
struct Bf16Pairs {
  struct Sum {
    __m512 even, odd;
  };
  using Weight = float;
  using Out = uint16_t;
  static constexpr int kLanes = 32, kBytes = 2;
  [[gnu::always_inline]] static Sum Zero() { return Splat(0); }
  [[gnu::always_inline]] static Sum Splat(Weight w) { return {_mm512_set1_ps(w), _mm512_set1_ps(w)}; }
  [[gnu::always_inline]] static Sum Add(const Sum& sum, const Sum& x, const Sum& w) {
    return {_mm512_fmadd_ps(x.even, w.even, sum.even), _mm512_fmadd_ps(x.odd, w.odd, sum.odd)};
  }
  template <int Step>
  [[gnu::always_inline]] static Sum Load(const uint8_t* p, uint64_t mask) {
    Sum x;
    Bf16ToF32::LoadBoth(p, mask, x.even, x.odd);
    return x;
  }
  [[gnu::always_inline]] static void Store(Out* out, const Sum& sum) {
    _mm512_storeu_si512(out, Together(sum));
  }
  [[gnu::always_inline]] static void StorePart(Out* out, const Sum& sum, int64_t count) {
    _mm512_mask_storeu_epi16(out, (1U << static_cast<unsigned>(count)) - 1, Together(sum));
  }

 private:
  [[gnu::always_inline]] static __m512i Together(const Sum& sum) {
    __m512i even = RoundBf16(sum.even), odd = RoundBf16(sum.odd);
    if (_mm512_cmp_ps_mask(sum.even, sum.odd, _CMP_UNORD_Q) != 0) {
      even = RoundBf16OrNan(sum.even);
      odd = RoundBf16OrNan(sum.odd);
    }
    return _mm512_mask_blend_epi16(0xAAAAAAAA, _mm512_srli_epi32(even, 16), odd);
  }
};
struct F16 : Floats {
  static constexpr int kBytes = 2;
  template <int Step>
  [[gnu::always_inline]] static Sum Load(const uint8_t* p, uint64_t mask) {
    if constexpr (Step == 1)
      return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(mask), p));
    else
      return _mm512_cvtph_ps(
          _mm512_cvtepi32_epi16(_mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), p)));
  }
  [[gnu::always_inline]] static void LoadBoth(const uint8_t* p, uint64_t mask, Sum& even, Sum& odd) {
    using Codes = uint16_t __attribute__((ext_vector_type(32)));
    const auto in = __builtin_bit_cast(Codes, _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), p));
    const auto codes = __builtin_bit_cast(
        __m512i, __builtin_shufflevector(in, in, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 1,
                                         3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31));
    even = _mm512_cvtph_ps(_mm512_castsi512_si256(codes));
    odd = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(codes, 1));
  }
};
struct Words {
  using Sum = __m512i;
  using Weight = uint16_t;
  static constexpr int kLanes = 32;
  [[gnu::always_inline]] static Sum Zero() { return _mm512_setzero_si512(); }
  [[gnu::always_inline]] static Sum Splat(Weight w) { return _mm512_set1_epi16(static_cast<short>(w)); }
  [[gnu::always_inline]] static Sum Add(Sum sum, Sum x, Sum w) {
    return _mm512_add_epi16(sum, _mm512_mullo_epi16(x, w));
  }
};
/// What lies in the upper half of a lane does not reach the lower half of a product.
struct Byte : Words {
  using Out = uint8_t;
  static constexpr int kBytes = 1;
  template <int Step>
  [[gnu::always_inline]] static Sum Load(const uint8_t* p, uint64_t mask) {
    if constexpr (Step == 1)
      return _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(static_cast<__mmask32>(mask), p));
    else
      return _mm512_maskz_loadu_epi8(mask, p);
  }
  [[gnu::always_inline]] static void LoadBoth(const uint8_t* p, uint64_t mask, Sum& even, Sum& odd) {
    even = _mm512_maskz_loadu_epi8(mask, p);
    odd = _mm512_srli_epi16(even, 8);
  }
  [[gnu::always_inline]] static void Store(Out* out, Sum sum) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi16_epi8(sum));
  }
  [[gnu::always_inline]] static void StorePart(Out* out, Sum sum, int64_t count) {
    _mm256_mask_storeu_epi8(out, (1U << static_cast<unsigned>(count)) - 1, _mm512_cvtepi16_epi8(sum));
  }
};

struct Half : Words {
  using Out = uint16_t;
  static constexpr int kBytes = 2;
  template <int Step>
  [[gnu::always_inline]] static Sum Load(const uint8_t* p, uint64_t mask) {
    const Sum low = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), p);
    if constexpr (Step == 1) return low;
    return _mm512_permutex2var_epi16(low, Even(), High(p, mask));
  }
  [[gnu::always_inline]] static void LoadBoth(const uint8_t* p, uint64_t mask, Sum& even, Sum& odd) {
    const Sum low = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), p), high = High(p, mask);
    even = _mm512_permutex2var_epi16(low, Even(), high);
    odd = _mm512_permutex2var_epi16(low, _mm512_add_epi16(Even(), _mm512_set1_epi16(1)), high);
  }
  [[gnu::always_inline]] static void Store(Out* out, Sum sum) { _mm512_storeu_si512(out, sum); }
  [[gnu::always_inline]] static void StorePart(Out* out, Sum sum, int64_t count) {
    _mm512_mask_storeu_epi16(out, (1U << static_cast<unsigned>(count)) - 1, sum);
  }

 private:
  [[gnu::always_inline]] static Sum High(const uint8_t* p, uint64_t mask) {
    return _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask >> 32U), p + 64);
  }
  [[gnu::always_inline]] static Sum Even() {
    const __m512i lanes =
        _mm512_cvtepu8_epi16(_mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32,
                                              34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62));
    return lanes;
  }
};

/// Where the results of a line go.
template <class K>
struct PlaneLine {
  typename K::Out* out;
  bool exact;  // nothing is written beyond the end
  /// What is written beyond the end of line `i` is written over by the next one, whose first vector comes
  /// later.
  PlaneLine(const PlaneArgs& args, int64_t i) {
    const int64_t at = args.out_offsets[i];
    out = static_cast<typename K::Out*>(args.out) + at;
    exact = i + 1 == args.lines || args.outputs < K::kLanes || args.out_offsets[i + 1] != at + args.outputs;
  }
  [[gnu::always_inline]] void Store(const PlaneArgs& args, int64_t vector, typename K::Sum sum) const {
    const int64_t at = vector * K::kLanes, left = args.outputs - at;
    if (left >= K::kLanes || !exact) return K::Store(out + at, sum);
    K::StorePart(out + at, sum, left);
  }
};

/// A line of windows: all zeros at negative offsets.
[[gnu::always_inline]] inline const uint8_t* LineAt(const PlaneArgs& args, int64_t offset) {
  return offset < 0 ? args.zeros : args.in + offset;
}

/// `Vectors` vectors from vector `first` on of a line whose taps begin at `taps`; inner ones without masks.
template <class K, int Step, int Vectors, bool Inner>
[[gnu::always_inline]] inline void PlaneVectors(const PlaneArgs& args, const PlaneLine<K>& line,
                                                const uint8_t* const* taps, const typename K::Weight* weights,
                                                int64_t first) {
  constexpr int64_t kReach = K::kLanes * Step * K::kBytes;
  typename K::Sum sums[Vectors];
#pragma clang loop unroll(full)
  for (auto& sum : sums) sum = K::Zero();
  const int64_t from = first * kReach, count = args.taps * args.window_lines;
  const uint64_t* masks = args.masks + first * args.taps;
  for (int64_t t = 0, k = 0, l = 0; t < count; ++t) {
    const auto weight = K::Splat(weights[t]);
    const uint8_t* in = taps[t] + from;
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v)
      sums[v] = K::Add(
          sums[v], K::template Load<Step>(in + v * kReach, Inner ? ~uint64_t{0} : masks[v * args.taps + k]),
          weight);
    if (!Inner && ++l == args.window_lines) l = 0, ++k;
  }
#pragma clang loop unroll(full)
  for (int v = 0; v < Vectors; ++v) line.Store(args, first + v, sums[v]);
}

/// Windows of any taps, line by line.
template <class K, int Step>
void PlaneByLines(const PlaneArgs& args) {
  const int64_t vectors = (args.outputs + K::kLanes - 1) / K::kLanes;
  const uint8_t* taps[kMostPlaneTaps];
  typename K::Weight weights[kMostPlaneTaps];
  for (int64_t k = 0, t = 0; k < args.taps; ++k)
    for (int64_t l = 0; l < args.window_lines; ++l, ++t)
      weights[t] = static_cast<const typename K::Weight*>(args.weights)[l * args.taps + k];
  for (int64_t i = 0; i < args.lines; ++i) {
    const int64_t* offsets = args.offsets + i * args.window_lines;
    for (int64_t k = 0, t = 0; k < args.taps; ++k)
      for (int64_t l = 0; l < args.window_lines; ++l, ++t)
        taps[t] = LineAt(args, offsets[l]) + (args.base + k * args.per_tap) * K::kBytes;
    const PlaneLine<K> line(args, i);
    const auto part = [&]<bool Inner>(std::bool_constant<Inner>, int64_t v, int64_t end) {
      for (; v + 4 <= end; v += 4) PlaneVectors<K, Step, 4, Inner>(args, line, taps, weights, v);
      for (; v + 2 <= end; v += 2) PlaneVectors<K, Step, 2, Inner>(args, line, taps, weights, v);
      if (v < end) PlaneVectors<K, Step, 1, Inner>(args, line, taps, weights, v);
    };
    part(std::false_type(), 0, args.inner_begin);
    part(std::true_type(), args.inner_begin, args.inner_end);
    part(std::false_type(), args.inner_end, vectors);
  }
}

/// Windows of three lines of three taps: of `Lines` lines of results from line `i` on, so that a line that
/// several windows meet is read once.
template <class K, int Step, int Lines>
[[gnu::always_inline]] inline void PlaneBlock(const PlaneArgs& args, int64_t i,
                                              const typename K::Sum (&weights)[3][3]) {
  constexpr int kIn = (Lines - 1) * Step + 3;
  const uint8_t* in[kIn];
#pragma clang loop unroll(full)
  for (int l = 0; l < kIn; ++l) {
    const int64_t line = l < 3 ? 0 : (l - 3) / Step + 1;  // the first one that meets it
    in[l] = LineAt(args, args.offsets[(i + line) * 3 + l - line * Step]) + args.base * K::kBytes;
  }
  const int64_t tap = args.per_tap * K::kBytes;
  // Backwards, so that what is written beyond the end of a line is written over.
  for (int64_t v = (args.outputs - 1) / K::kLanes; v >= 0; --v) {
    const uint64_t* masks = args.masks + v * 3;
    typename K::Sum sums[Lines];
#pragma clang loop unroll(full)
    for (auto& sum : sums) sum = K::Zero();
#pragma clang loop unroll(full)
    for (int l = 0; l < kIn; ++l) {
      const uint8_t* from = in[l] + v * K::kLanes * Step * K::kBytes;
      typename K::Sum first, second;
      if constexpr (Step == 2) {
        K::LoadBoth(from, masks[0], first, second);
      } else {
        first = K::template Load<Step>(from, masks[0]);
        second = K::template Load<Step>(from + tap, masks[1]);
      }
      const auto third = K::template Load<Step>(from + 2 * tap, masks[2]);
#pragma clang loop unroll(full)
      for (int r = 0; r < Lines; ++r) {
        const int of = l - r * Step;
        if (of < 0 || of >= 3) continue;
        sums[r] = K::Add(K::Add(sums[r], first, weights[of][0]), second, weights[of][1]);
        sums[r] = K::Add(sums[r], third, weights[of][2]);
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < Lines; ++r) PlaneLine<K>(args, i + r).Store(args, v, sums[r]);
  }
}

/// How many lines from line `i` on, four at most, have windows that are each `step` lines after the last.
inline int64_t LinesOfBlock(const PlaneArgs& args, int64_t i, int64_t step) {
  for (int64_t r = 1; r < 4; ++r) {
    if (i + r >= args.lines) return r;
    const int64_t* offsets = args.offsets + (i + r) * 3;
    for (int64_t l = 0; l + step < 3; ++l)
      if (offsets[l] != offsets[l + step - 3]) return r;
  }
  return 4;
}

template <class K, int Step>
void Plane(const PlaneArgs& args) {
  if (args.window_lines != 3 || args.taps != 3 || (Step == 2 && args.per_tap != 1))
    return PlaneByLines<K, Step>(args);
  typename K::Sum weights[3][3];
  for (int i = 0; i < 9; ++i)
    weights[i / 3][i % 3] = K::Splat(static_cast<const typename K::Weight*>(args.weights)[i]);
  for (int64_t i = 0; i < args.lines;) {
    const bool four = LinesOfBlock(args, i, Step) == 4;
    if (four)
      PlaneBlock<K, Step, 4>(args, i, weights);
    else
      PlaneBlock<K, Step, 1>(args, i, weights);
    i += four ? 4 : 1;
  }
}

/// For steps of 1 and 2.
template <class One, class Two = One>
constexpr PlaneKernel kSteps[] = {{One::kLanes, &Plane<One, 1>}, {Two::kLanes, &Plane<Two, 2>}};

/// Half vectors: lines are short, and loads that cross lines of the cache take twice as long. `Single`: a
/// line is one of them, whose masks stay in registers.
template <bool Single>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void GradientLines(const PlaneGradientArgs& args) {
  __m256i sums[kPlaneShifts];
  __mmask32 masks[kPlaneShifts + 1];
#pragma clang loop unroll(full)
  for (int s = 0; s < kPlaneShifts; ++s)
    sums[s] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(args.sums + s * kGradientSums));
#pragma clang loop unroll(full)
  for (int s = 0; s <= kPlaneShifts; ++s) masks[s] = args.masks[s];
  for (size_t l = 0; l < args.line_count; ++l) {
    const uint8_t* left = args.left + args.lines[l].left + args.base;
    const uint8_t* right = args.right + args.lines[l].right;
    for (int64_t v = 0; v < (Single ? 1 : args.vectors); ++v, left += 32, right += 32) {
      if constexpr (!Single)
#pragma clang loop unroll(full)
        for (int s = 0; s <= kPlaneShifts; ++s) masks[s] = args.masks[v * (kPlaneShifts + 1) + s];
      const __m256i y = _mm256_maskz_loadu_epi8(masks[kPlaneShifts], right);
#pragma clang loop unroll(full)
      for (int s = 0; s < kPlaneShifts; ++s)
        sums[s] = _mm256_dpbusd_epi32(sums[s], y, _mm256_maskz_loadu_epi8(masks[s], left + s));
    }
  }
#pragma clang loop unroll(full)
  for (int s = 0; s < kPlaneShifts; ++s)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(args.sums + s * kGradientSums), sums[s]);
}

}  // namespace

void AddGradientLines(const PlaneGradientArgs& args) {
  if (args.vectors == 1) return GradientLines<true>(args);
  GradientLines<false>(args);
}

const PlaneKernel& PlaneKernelFor(PlaneKind kind, int64_t step) {
  constexpr const PlaneKernel* kKernels[kPlaneKinds] = {
      kSteps<F32>, kSteps<Bf16ToF32>, kSteps<Bf16Pairs, Bf16>, kSteps<F16>, kSteps<Byte>, kSteps<Half>};
  return kKernels[static_cast<int>(kind)][step - 1];
}

}  // namespace hlo::gemm

#pragma clang attribute pop
