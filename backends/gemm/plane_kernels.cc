#include "backends/gemm/plane_kernels.h"

#include <immintrin.h>

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
  [[gnu::always_inline]] static Sum Plus(Sum a, Sum b) { return _mm512_add_ps(a, b); }
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
struct Bf16 : Floats {
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
  [[gnu::always_inline]] static Sum Plus(Sum a, Sum b) { return _mm512_add_epi16(a, b); }
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
    alignas(32) Out all[kLanes];
    Store(all, sum);
    for (int64_t i = 0; i < count; ++i) out[i] = all[i];
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

/// A line of results, or what lines of windows begin with.
template <class K>
struct PlaneLine {
  const uint8_t* in[kMostWindowLines];
  typename K::Out* out;
  bool exact;  // nothing is written beyond the end
  [[gnu::always_inline]] void Store(const PlaneArgs& args, int64_t vector, typename K::Sum sum) const {
    const int64_t at = vector * K::kLanes, left = args.outputs - at;
    if (left >= K::kLanes || !exact) return K::Store(out + at, sum);
    K::StorePart(out + at, sum, left);
  }
};

/// All lines: run(line) for each.
template <class K, class F>
[[gnu::always_inline]] inline void EachLine(const PlaneArgs& args, F&& run) {
  PlaneLine<K> line;
  const int64_t* offsets = args.offsets;
  for (int64_t i = 0; i < args.lines; ++i, offsets += args.window_lines) {
    for (int64_t l = 0; l < args.window_lines; ++l)
      line.in[l] = offsets[l] < 0 ? args.zeros : args.in + offsets[l];
    const int64_t at = args.out_offsets[i];
    line.out = static_cast<typename K::Out*>(args.out) + at;
    // What is written beyond the end is written over by the next line.
    line.exact =
        i + 1 == args.lines || args.outputs < K::kLanes || args.out_offsets[i + 1] != at + args.outputs;
    run(line);
  }
}

/// `Vectors` vectors from vector `first` on.
template <class K, int Step, int Vectors>
[[gnu::always_inline]] inline void PlaneVectors(const PlaneArgs& args, const PlaneLine<K>& line,
                                                int64_t first) {
  typename K::Sum sums[Vectors];
#pragma clang loop unroll(full)
  for (auto& sum : sums) sum = K::Zero();
  const auto* weights = static_cast<const typename K::Weight*>(args.weights);
  const int64_t from = (args.base + first * K::kLanes * Step) * K::kBytes;
  const uint64_t* masks = args.masks + first * args.taps;
  for (int64_t k = 0; k < args.taps; ++k)
    for (int64_t l = 0; l < args.window_lines; ++l) {
      const auto weight = K::Splat(weights[l * args.taps + k]);
      const uint8_t* in = line.in[l] + from + k * args.per_tap * K::kBytes;
#pragma clang loop unroll(full)
      for (int v = 0; v < Vectors; ++v)
        sums[v] = K::Add(
            sums[v], K::template Load<Step>(in + v * K::kLanes * Step * K::kBytes, masks[v * args.taps + k]),
            weight);
    }
#pragma clang loop unroll(full)
  for (int v = 0; v < Vectors; ++v) line.Store(args, first + v, sums[v]);
}

/// The same for three lines of three taps: with steps of 2 two neighbouring ones are read at once.
template <class K, int Step>
[[gnu::always_inline]] inline void PlaneVector(const PlaneArgs& args, const PlaneLine<K>& line, int64_t v,
                                               const typename K::Sum (&weights)[3][3]) {
  typename K::Sum sums[3];
  const int64_t from = (args.base + v * K::kLanes * Step) * K::kBytes, tap = args.per_tap * K::kBytes;
  const uint64_t* masks = args.masks + v * 3;
#pragma clang loop unroll(full)
  for (int l = 0; l < 3; ++l) {
    typename K::Sum first, second;
    const uint8_t* in = line.in[l] + from;
    if constexpr (Step == 2) {
      K::LoadBoth(in, masks[0], first, second);
    } else {
      first = K::template Load<Step>(in, masks[0]);
      second = K::template Load<Step>(in + tap, masks[1]);
    }
    sums[l] = K::Add(K::Add(K::Zero(), first, weights[l][0]), second, weights[l][1]);
    sums[l] = K::Add(sums[l], K::template Load<Step>(in + 2 * tap, masks[2]), weights[l][2]);
  }
  line.Store(args, v, K::Plus(K::Plus(sums[0], sums[1]), sums[2]));
}

template <class K, int Step>
void Plane(const PlaneArgs& args) {
  const int64_t vectors = (args.outputs + K::kLanes - 1) / K::kLanes;
  if (args.window_lines == 3 && args.taps == 3 && (Step == 1 || args.per_tap == 1)) {
    typename K::Sum weights[3][3];
    for (int i = 0; i < 9; ++i)
      weights[i / 3][i % 3] = K::Splat(static_cast<const typename K::Weight*>(args.weights)[i]);
    return EachLine<K>(args, [&](const PlaneLine<K>& line) {
      for (int64_t v = 0; v < vectors; ++v) PlaneVector<K, Step>(args, line, v, weights);
    });
  }
  EachLine<K>(args, [&](const PlaneLine<K>& line) {
    int64_t v = 0;
    for (; v + 4 <= vectors; v += 4) PlaneVectors<K, Step, 4>(args, line, v);
    for (; v + 2 <= vectors; v += 2) PlaneVectors<K, Step, 2>(args, line, v);
    if (v < vectors) PlaneVectors<K, Step, 1>(args, line, v);
  });
}

template <class K>
constexpr PlaneKernel kSteps[] = {{K::kLanes, &Plane<K, 1>}, {K::kLanes, &Plane<K, 2>}};

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
  constexpr const PlaneKernel* kKernels[kPlaneKinds] = {kSteps<F32>, kSteps<Bf16>, kSteps<F16>, kSteps<Byte>,
                                                        kSteps<Half>};
  return kKernels[static_cast<int>(kind)][step - 1];
}

}  // namespace hlo::gemm

#pragma clang attribute pop
