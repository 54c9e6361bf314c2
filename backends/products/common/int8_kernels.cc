// Products of fours of bytes in vector registers.
#include <immintrin.h>

#include <algorithm>
#include <utility>

#include "backends/products/common/vnni_kernels.h"
#include "ir/support/cpu_features.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))), \
                             apply_to = function)

namespace hlo::gemm {
namespace {

/// The instruction multiplies unsigned bytes by signed ones: where both factors have the same sign, the left
/// one has been moved by 128 to the other, and the right one's sums times 128 are taken away or added.
template <GroupKind Kind>
struct Fours {
  using Sum = __m512i;
  static constexpr bool kMoved = IsOfOneSign(Kind);
  [[gnu::always_inline]] static Sum Load(const void* p) { return _mm512_loadu_si512(p); }
  [[gnu::always_inline]] static Sum Plus(Sum a, Sum b) { return _mm512_add_epi32(a, b); }
  [[gnu::always_inline]] static void Store(void* p, Sum sum) { _mm512_storeu_si512(p, sum); }
  [[gnu::always_inline]] static __m512i LoadRight(const void* p) { return _mm512_loadu_si512(p); }
  [[gnu::always_inline]] static __m512i LoadLeft(const void* p) {
    int word;
    __builtin_memcpy(&word, p, sizeof word);
    return _mm512_set1_epi32(word);
  }
  [[gnu::always_inline]] static void Add(Sum& sum, __m512i left, __m512i right) {
    if constexpr (Kind == GroupKind::SS || Kind == GroupKind::US)
      sum = _mm512_dpbusd_epi32(sum, left, right);
    else
      sum = _mm512_dpbusd_epi32(sum, right, left);
  }
  static constexpr int64_t kElementBytes = 1;
  template <int Count>
  [[gnu::always_inline]] static void BeforeNarrowing(Sum*) {}
  [[gnu::always_inline]] static void StoreNarrow(uint8_t* p, Sum sum) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(sum));
  }
  /// Minus (plus) 128 times what is moved up (down).
  [[gnu::always_inline]] static void Correction(Sum& sum, const void* right) {
    const __m512i by = _mm512_set1_epi8(-128), words = LoadRight(right);
    if constexpr (Kind == GroupKind::SS)
      sum = _mm512_sub_epi32(sum, _mm512_dpbusd_epi32(_mm512_setzero_si512(), by, words));
    else
      sum = _mm512_sub_epi32(sum, _mm512_dpbusd_epi32(_mm512_setzero_si512(), words, by));
  }
};

#include "backends/products/common/direct_vnni_tiles.inc"
#include "backends/products/common/vnni_tiles.inc"

void Multiply(GroupKind kind, int64_t rows, const GroupArgs& args) {
  switch (kind) {
    case GroupKind::Bf16: return;
    case GroupKind::SS: return MultiplyRows<Fours<GroupKind::SS>>(rows, args);
    case GroupKind::SU: return MultiplyRows<Fours<GroupKind::SU>>(rows, args);
    case GroupKind::US: return MultiplyRows<Fours<GroupKind::US>>(rows, args);
    case GroupKind::UU: return MultiplyRows<Fours<GroupKind::UU>>(rows, args);
  }
}

/// Left factors of kinds that are moved have been moved before.
void MultiplyWords(GroupKind kind, const WordArgs& args) {
  switch (kind) {
    case GroupKind::Bf16: return;
    case GroupKind::SS:
    case GroupKind::US: return RunWords<Fours<GroupKind::US>>(args);
    case GroupKind::UU:
    case GroupKind::SU: return RunWords<Fours<GroupKind::SU>>(args);
  }
}

#pragma clang attribute pop
#pragma clang attribute push(                                                               \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,avx512vbmi,avx512vbmi2"))), \
    apply_to = function)

/// Words of as many rows: dwords of all rows come together, and are turned round there.
struct WovenFours : Fours<GroupKind::US> {
  static constexpr int kElements = 4;
  [[gnu::always_inline]] static __m128i LoadElements(const uint8_t* row, int64_t at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + at));
  }
  [[gnu::always_inline]] static __m128i LoadElements(const uint8_t* row, int64_t at, __mmask16 mask) {
    return _mm_maskz_loadu_epi8(mask, row + at);
  }
  template <class F>
  [[gnu::always_inline]] static __m512i Weave(F&& row) {
    const __m512i places = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
                  bytes = _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
    __m512i rows = _mm512_castsi128_si512(row(0));
    rows = _mm512_inserti32x4(rows, row(1), 1);
    rows = _mm512_inserti32x4(rows, row(2), 2);
    rows = _mm512_inserti32x4(rows, row(3), 3);
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(places, rows), bytes);
  }
  /// 64 words: of both halves of rows, pairs of neighbours.
  [[gnu::always_inline]] static void WeaveMany(const uint8_t* in, int64_t step, uint8_t* out) {
    using Bytes = uint8_t __attribute__((ext_vector_type(64)));
    using Halves = uint16_t __attribute__((ext_vector_type(32)));
    Bytes rows[4];
    for (int i = 0; i < 4; ++i) __builtin_memcpy(&rows[i], in + i * step, sizeof rows[i]);
    const auto bytes = [&]<int... I>(int i, int first, std::integer_sequence<int, I...>) {
      alignas(64) const uint8_t places[] = {static_cast<uint8_t>(first + I / 2 + I % 2 * 64)...};
      return _mm512_permutex2var_epi8(__builtin_bit_cast(__m512i, rows[i]), _mm512_load_si512(places),
                                      __builtin_bit_cast(__m512i, rows[i + 1]));
    };
    constexpr auto kBytes = std::make_integer_sequence<int, 64>();
    for (int half = 0; half < 2; ++half) {
      const auto low = __builtin_bit_cast(Halves, bytes(0, half * 32, kBytes)),
                 high = __builtin_bit_cast(Halves, bytes(2, half * 32, kBytes));
      const auto pairs = [&]<int First, int... I>(std::integral_constant<int, First>,
                                                  std::integer_sequence<int, I...>) {
        return __builtin_shufflevector(low, high, (First + I / 2 + I % 2 * 32)...);
      };
      constexpr auto kPairs = std::make_integer_sequence<int, 32>();
      const Halves words[] = {pairs(std::integral_constant<int, 0>(), kPairs),
                              pairs(std::integral_constant<int, 16>(), kPairs)};
      __builtin_memcpy(out + int64_t{128} * half, words, sizeof words);
    }
  }
  /// The same of rows of 4, 8 or 12 elements that follow one another, all words that fit.
  class Neighbours {
   public:
    [[gnu::always_inline]] explicit Neighbours(int64_t features) {
      const int64_t parts = features / 4;  // of a row
      int32_t places[kWordLanes] = {};
      for (int64_t lane = 0; lane < kWordLanes / 4 / parts * parts; ++lane)
        for (int64_t i = 0; i < 4; ++i)
          places[lane * 4 + i] = static_cast<int32_t>((lane / parts * 4 + i) * parts + lane % parts);
      places_ = _mm512_loadu_si512(places);
      there_ = ~0ULL >> static_cast<unsigned>(64 - kWordLanes / features * features * 4);
    }
    [[gnu::always_inline]] __m512i Weave(const uint8_t* in) const {
      const __m512i bytes = _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
      return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(places_, _mm512_maskz_loadu_epi8(there_, in)),
                                 bytes);
    }

   private:
    __m512i places_;
    __mmask64 there_;
  };
};

#include "backends/products/common/weight_gradient_vnni_tiles.inc"

#pragma clang attribute pop

constexpr GroupKernels kKernels = {.name = "fours in vectors",
                                   .multiply = &Multiply,
                                   .prepare = nullptr,
                                   .release = nullptr,
                                   .row_piece = 256,
                                   .column_piece = 256,
                                   .work_per_task = 1e6,
                                   .words = &MultiplyWords,
                                   .rows = 256,
                                   .moves_left = &IsOfOneSign,
                                   .run_rows = kTileRows};

}  // namespace

const GroupKernels* FourKernels() {
  static const bool has = HasCpuFeatures({"avx512vnni", "avx512bw", "avx512vl"});
  static const GroupKernels kernels = [] {
    GroupKernels all = kKernels;
    if (HasCpuFeatures({"avx512vbmi", "avx512vbmi2"})) {
      all.positions = &RunPositions<WovenFours>;
      all.weave = &WeaveLine<WovenFours>;
    }
    return all;
  }();
  return has ? &kernels : nullptr;
}

}  // namespace hlo::gemm
