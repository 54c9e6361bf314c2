// Products of fours of bytes in vector registers.
#include <immintrin.h>

#include <algorithm>
#include <utility>

#include "backends/gemm/group_kernels.h"
#include "ir/support/cpu_features.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))), \
                             apply_to = function)

namespace hlo::gemm {
namespace {

/// The instruction multiplies unsigned bytes by signed ones: where both factors have the same sign, the left
/// one is moved by 128 to the other, and the right one's sums times 128 are taken away or added.
template <GroupKind Kind>
struct Fours {
  using Sum = __m512i;
  static constexpr bool kMoved = Kind == GroupKind::SS || Kind == GroupKind::UU;
  [[gnu::always_inline]] static Sum Load(const void* p) { return _mm512_loadu_si512(p); }
  [[gnu::always_inline]] static Sum Plus(Sum a, Sum b) { return _mm512_add_epi32(a, b); }
  [[gnu::always_inline]] static void Store(void* p, Sum sum) { _mm512_storeu_si512(p, sum); }
  [[gnu::always_inline]] static __m512i LoadRight(const void* p) { return _mm512_loadu_si512(p); }
  [[gnu::always_inline]] static __m512i LoadLeft(const void* p) {
    int word;
    __builtin_memcpy(&word, p, sizeof word);
    __m512i words = _mm512_set1_epi32(word);
    if constexpr (kMoved) {
      // Loads bring a word to all lanes; moved before, it would have to come from another register file.
      asm("" : "+v"(words));
      words = _mm512_xor_si512(words, _mm512_set1_epi8(-128));
    }
    return words;
  }
  [[gnu::always_inline]] static void Add(Sum& sum, __m512i left, __m512i right) {
    if constexpr (Kind == GroupKind::SS || Kind == GroupKind::US)
      sum = _mm512_dpbusd_epi32(sum, left, right);
    else
      sum = _mm512_dpbusd_epi32(sum, right, left);
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

#include "backends/gemm/group_tiles.inc"
#include "backends/gemm/word_tiles.inc"

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

constexpr GroupKernels kKernels = {.name = "fours in vectors",
                                   .multiply = &Multiply,
                                   .prepare = nullptr,
                                   .release = nullptr,
                                   .row_piece = 256,
                                   .column_piece = 256,
                                   .work_per_task = 1e6,
                                   .words = &MultiplyWords,
                                   .rows = 256};

}  // namespace

const GroupKernels* FourKernels() {
  static const bool has = HasCpuFeatures({"avx512vnni", "avx512bw", "avx512vl"});
  return has ? &kKernels : nullptr;
}

}  // namespace hlo::gemm

#pragma clang attribute pop
