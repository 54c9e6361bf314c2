#include "backends/gemm/amx_kernels.h"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "ir/support/cpu_features.h"

#pragma clang attribute push( \
    __attribute__((target("amx-tile,amx-bf16,amx-int8,avx512f,avx512bw,avx512vl"))), apply_to = function)

namespace hlo::gemm {
namespace {

/// The layout of registers as LDTILECFG reads it.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes_per_row[16] = {};
  uint8_t rows[16] = {};
};

// Registers 0 … 3 are sums, 4 and 5 rows of the left factor, 6 and 7 columns of the right one.
template <AmxKind Kind>
[[gnu::always_inline]] inline void MultiplyUpper() {
  if constexpr (Kind == AmxKind::Bf16) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
  } else if constexpr (Kind == AmxKind::SS) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
  } else if constexpr (Kind == AmxKind::SU) {
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
  } else if constexpr (Kind == AmxKind::US) {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
  } else {
    _tile_dpbuud(0, 4, 6);
    _tile_dpbuud(1, 4, 7);
  }
}
template <AmxKind Kind>
[[gnu::always_inline]] inline void MultiplyLower() {
  if constexpr (Kind == AmxKind::Bf16) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  } else if constexpr (Kind == AmxKind::SS) {
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  } else if constexpr (Kind == AmxKind::SU) {
    _tile_dpbsud(2, 5, 6);
    _tile_dpbsud(3, 5, 7);
  } else if constexpr (Kind == AmxKind::US) {
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  } else {
    _tile_dpbuud(2, 5, 6);
    _tile_dpbuud(3, 5, 7);
  }
}

template <AmxKind Kind, bool Both>
void Multiply(const AmxArgs& args) {
  const auto* left = static_cast<const uint8_t*>(args.left);
  const auto* right = static_cast<const uint8_t*>(args.right);
  auto* sums = static_cast<uint8_t*>(args.sums);
  const auto left_stride = static_cast<size_t>(args.left_stride),
             sums_stride = static_cast<size_t>(args.sums_stride);
  constexpr int64_t kColumnBytes = kAmxColumns * 4, kHalf = kAmxRows / 2;
  uint8_t* lower = sums + kHalf * args.sums_stride;
  if (args.accumulate) {
    _tile_loadd(0, sums, sums_stride);
    _tile_loadd(1, sums + 64, sums_stride);
    if constexpr (Both) {
      _tile_loadd(2, lower, sums_stride);
      _tile_loadd(3, lower + 64, sums_stride);
    }
  } else {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (Both) {
      _tile_zero(2);
      _tile_zero(3);
    }
  }
  for (int64_t k = 0; k < args.steps; ++k, left += kAmxStepBytes, right += kHalf * kColumnBytes) {
    _tile_loadd(6, right, static_cast<size_t>(kColumnBytes));
    _tile_loadd(7, right + 64, static_cast<size_t>(kColumnBytes));
    _tile_loadd(4, left, left_stride);
    MultiplyUpper<Kind>();
    if constexpr (Both) {
      _tile_loadd(5, left + kHalf * args.left_stride, left_stride);
      MultiplyLower<Kind>();
    }
  }
  _tile_stored(0, sums, sums_stride);
  _tile_stored(1, sums + 64, sums_stride);
  if constexpr (Both) {
    _tile_stored(2, lower, sums_stride);
    _tile_stored(3, lower + 64, sums_stride);
  }
}

template <AmxKind Kind>
void MultiplyRows(int64_t rows, const AmxArgs& args) {
  if (rows > kAmxRows / 2)
    Multiply<Kind, true>(args);
  else
    Multiply<Kind, false>(args);
}

bool AskForTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return HasCpuFeatures({"amx-tile", "amx-bf16", "amx-int8", "avx512bw", "avx512vl"}) &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

template <class E, int Group>
void InterleaveAny(const E* in, int64_t in_stride, int64_t depth, int64_t padded_depth, int64_t count,
                   E* out) {
  for (int64_t k = 0; k < padded_depth; k += Group)
    for (int64_t i = 0; i < kAmxColumns; ++i)
      for (int64_t g = 0; g < Group; ++g)
        *out++ = k + g < depth && i < count ? in[(k + g) * in_stride + i] : E(0);
}

}  // namespace

bool HasAmx() {
  static const bool has = AskForTiles();
  return has;
}

void AmxConfigure(int64_t rows) {
  TileConfig config;
  const auto upper = static_cast<uint8_t>(rows < kAmxRows / 2 ? rows : kAmxRows / 2),
             lower = static_cast<uint8_t>(rows - upper > 0 ? rows - upper : 1);
  for (int t = 0; t < 8; ++t) {
    config.bytes_per_row[t] = 64;
    config.rows[t] = 16;
  }
  config.rows[0] = config.rows[1] = config.rows[4] = upper;
  config.rows[2] = config.rows[3] = config.rows[5] = lower;
  _tile_loadconfig(&config);
}

void AmxRelease() { _tile_release(); }

void AmxMultiply(AmxKind kind, int64_t rows, const AmxArgs& args) {
  switch (kind) {
    case AmxKind::Bf16: return MultiplyRows<AmxKind::Bf16>(rows, args);
    case AmxKind::SS: return MultiplyRows<AmxKind::SS>(rows, args);
    case AmxKind::SU: return MultiplyRows<AmxKind::SU>(rows, args);
    case AmxKind::US: return MultiplyRows<AmxKind::US>(rows, args);
    case AmxKind::UU: return MultiplyRows<AmxKind::UU>(rows, args);
  }
}

void AmxInterleave16(const uint16_t* in, int64_t in_stride, int64_t depth, int64_t padded_depth,
                     int64_t count, uint16_t* out) {
  using Row = uint16_t __attribute__((ext_vector_type(32)));
  int64_t k = 0;
  if (count == kAmxColumns)
    for (; k + 2 <= depth; k += 2, in += 2 * in_stride, out += 2 * kAmxColumns) {
      Row a, b;
      std::memcpy(&a, in, sizeof a);
      std::memcpy(&b, in + in_stride, sizeof b);
      const Row low = __builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8,
                                              40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47),
                high = __builtin_shufflevector(a, b, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54,
                                               23, 55, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62,
                                               31, 63);
      std::memcpy(out, &low, sizeof low);
      std::memcpy(out + kAmxColumns, &high, sizeof high);
    }
  InterleaveAny<uint16_t, 2>(in, in_stride, depth - k, padded_depth - k, count, out);
}

void AmxInterleave8(const uint8_t* in, int64_t in_stride, int64_t depth, int64_t padded_depth, int64_t count,
                    uint8_t* out) {
  int64_t k = 0;
  if (count == kAmxColumns)
    for (; k + 4 <= depth; k += 4, in += 4 * in_stride, out += 4 * kAmxColumns) {
      using Row = uint8_t __attribute__((ext_vector_type(32)));
      using Wide = uint32_t __attribute__((ext_vector_type(32)));
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

#pragma clang attribute pop
