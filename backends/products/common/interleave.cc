// The right factor in the order of products of groups.
#include <cstring>

#include "backends/products/common/vnni_kernels.h"

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl"))), apply_to = function)
#endif

namespace hlo::gemm {
namespace {

/// Each row is a line far from the one before, which the processor does not foresee: it is asked for so long
/// before. Addresses beyond the array do no harm.
constexpr int64_t kRowsAhead = 8;
template <class E>
[[gnu::always_inline]] inline void FetchRows(const E* row, int64_t stride, int count) {
  for (int r = 0; r < count; ++r) __builtin_prefetch(row + r * stride);
}

template <class E, int Group>
void InterleaveAny(const E* in, int64_t in_stride, int64_t depth, int64_t padded_depth, int64_t count,
                   E* out) {
  for (int64_t k = 0; k < padded_depth; k += Group)
    for (int64_t i = 0; i < kGroupColumns; ++i)
      for (int64_t g = 0; g < Group; ++g)
        *out++ = k + g < depth && i < count ? in[(k + g) * in_stride + i] : E(0);
}

}  // namespace

void Interleave16(const uint16_t* in, int64_t in_stride, int64_t depth, int64_t padded_depth, int64_t count,
                  uint16_t* out) {
  using Row = uint16_t __attribute__((ext_vector_type(32)));
  int64_t k = 0;
  if (count == kGroupColumns)
    for (; k + 2 <= depth; k += 2, in += 2 * in_stride, out += 2 * kGroupColumns) {
      FetchRows(in + kRowsAhead * in_stride, in_stride, 2);
      Row a, b;
      std::memcpy(&a, in, sizeof a);
      std::memcpy(&b, in + in_stride, sizeof b);
      const Row low = __builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8,
                                              40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47),
                high = __builtin_shufflevector(a, b, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54,
                                               23, 55, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62,
                                               31, 63);
      std::memcpy(out, &low, sizeof low);
      std::memcpy(out + kGroupColumns, &high, sizeof high);
    }
  InterleaveAny<uint16_t, 2>(in, in_stride, depth - k, padded_depth - k, count, out);
}

void Interleave8(const uint8_t* in, int64_t in_stride, int64_t depth, int64_t padded_depth, int64_t count,
                 uint8_t* out) {
  int64_t k = 0;
  if (count == kGroupColumns)
    for (; k + 4 <= depth; k += 4, in += 4 * in_stride, out += 4 * kGroupColumns) {
      using Row = uint8_t __attribute__((ext_vector_type(32)));
      using Wide = uint32_t __attribute__((ext_vector_type(32)));
      FetchRows(in + kRowsAhead * in_stride, in_stride, 4);
      Wide words = Wide(0U);
      for (int g = 0; g < 4; ++g) {
        Row row;
        std::memcpy(&row, in + g * in_stride, sizeof row);
        words |= __builtin_convertvector(row, Wide) << static_cast<uint32_t>(8 * g);
      }
      std::memcpy(out, &words, sizeof words);
    }
  InterleaveAny<uint8_t, 4>(in, in_stride, depth - k, padded_depth - k, count, out);
}

}  // namespace hlo::gemm

#if defined(__x86_64__)
#pragma clang attribute pop
#endif
