// Products of pairs of BF16 numbers in vector registers.
#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <utility>

#include "backends/products/common/vnni_kernels.h"
#include "ir/support/cpu_features.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))), \
                             apply_to = function)

namespace hlo::gemm {
namespace {

struct Pairs {
  using Sum = __m512;
  static constexpr bool kMoved = false;
  [[gnu::always_inline]] static Sum Load(const void* p) { return _mm512_loadu_ps(p); }
  [[gnu::always_inline]] static Sum Plus(Sum a, Sum b) { return _mm512_add_ps(a, b); }
  [[gnu::always_inline]] static void Store(void* p, Sum sum) { _mm512_storeu_ps(p, sum); }
  [[gnu::always_inline]] static __m512i LoadRight(const void* p) { return _mm512_loadu_si512(p); }
  [[gnu::always_inline]] static __m512i LoadLeft(const void* p) {
    int word;
    __builtin_memcpy(&word, p, sizeof word);
    return _mm512_set1_epi32(word);
  }
  [[gnu::always_inline]] static void Add(Sum& sum, __m512i left, __m512i right) {
    sum = _mm512_dpbf16_ps(sum, __builtin_bit_cast(__m512bh, left), __builtin_bit_cast(__m512bh, right));
  }
  static constexpr int64_t kElementBytes = 2;
  /// NaN keeps its sign alone, as NarrowFromFloat has it.
  template <int Count>
  [[gnu::always_inline]] static void BeforeNarrowing(Sum* sums) {
    __mmask16 nan = 0;
#pragma clang loop unroll(full)
    for (int i = 0; i < Count; i += 2) nan |= _mm512_cmp_ps_mask(sums[i], sums[i + 1], _CMP_UNORD_Q);
    if (__builtin_expect(nan == 0, 1)) return;
#pragma clang loop unroll(full)
    for (int i = 0; i < Count; ++i) {
      const __m512i sign = _mm512_and_si512(_mm512_castps_si512(sums[i]), _mm512_set1_epi32(INT32_MIN));
      sums[i] = _mm512_mask_mov_ps(sums[i], _mm512_cmp_ps_mask(sums[i], sums[i], _CMP_UNORD_Q),
                                   _mm512_castsi512_ps(_mm512_or_si512(sign, _mm512_set1_epi32(0x7FC00000))));
    }
  }
  /// No sum is subnormal, which the instruction takes as zero.
  [[gnu::always_inline]] static void StoreNarrow(uint8_t* p, Sum sum) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), __builtin_bit_cast(__m256i, _mm512_cvtneps_pbh(sum)));
  }
};

#include "backends/products/common/direct_vnni_tiles.inc"
#include "backends/products/common/vnni_tiles.inc"

/// Words of two rows.
struct WovenPairs : Pairs {
  static constexpr int kElements = 2;
  [[gnu::always_inline]] static __m256i LoadElements(const uint8_t* row, int64_t at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 2 * at));
  }
  [[gnu::always_inline]] static __m256i LoadElements(const uint8_t* row, int64_t at, __mmask16 mask) {
    return _mm256_maskz_loadu_epi16(mask, row + 2 * at);
  }
  template <class F>
  [[gnu::always_inline]] static __m512i Weave(F&& row) {
    const __m512i rows = _mm512_inserti64x4(_mm512_castsi256_si512(row(0)), row(1), 1);
    using Words = uint16_t __attribute__((ext_vector_type(32)));
    const auto in = __builtin_bit_cast(Words, rows);
    return __builtin_bit_cast(
        __m512i, __builtin_shufflevector(in, in, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8,
                                         24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
  }
};

#include "backends/products/common/weight_gradient_vnni_tiles.inc"

void Multiply(GroupKind, int64_t rows, const GroupArgs& args) { MultiplyRows<Pairs>(rows, args); }

void MultiplyWords(GroupKind, const WordArgs& args) { RunWords<Pairs>(args); }

#pragma clang attribute pop

// What any machine runs, to learn whether it has the instructions, stands outside of the code with them.

constexpr GroupKernels kKernels = {.name = "pairs in vectors",
                                   .multiply = &Multiply,
                                   .prepare = nullptr,
                                   .release = nullptr,
                                   .row_piece = 512,
                                   .column_piece = 256,
                                   .work_per_task = 1e6,
                                   .words = &MultiplyWords,
                                   .positions = &RunPositions<WovenPairs>,
                                   .weave = &WeaveLine<WovenPairs>,
                                   .rows = 256,
                                   .narrows = true,
                                   .run_rows = kTileRows};

}  // namespace

const GroupKernels* PairKernels() {
  static const bool has = [] {
    if (!HasCpuFeatures({"avx512bf16", "avx512bw", "avx512vl"})) return false;
    // Intel's later ones, made for tile registers, take four times as long as for a multiply-add of floats.
    if (!HasCpuFeatures({"avx512fp16"})) return true;
    // __builtin_cpu_is would make each start of the programs ask the processor some dozen questions.
    unsigned highest, vendor, rest[2];
    return __get_cpuid(0, &highest, &vendor, &rest[0], &rest[1]) == 0 || vendor != signature_INTEL_ebx;
  }();
  return has ? &kKernels : nullptr;
}

}  // namespace hlo::gemm
