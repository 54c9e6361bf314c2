#include "backends/products/common/vnni_kernels.h"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

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
template <GroupKind Kind>
[[gnu::always_inline]] inline void MultiplyUpper() {
  if constexpr (Kind == GroupKind::Bf16) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
  } else if constexpr (Kind == GroupKind::SS) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
  } else if constexpr (Kind == GroupKind::SU) {
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
  } else if constexpr (Kind == GroupKind::US) {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
  } else {
    _tile_dpbuud(0, 4, 6);
    _tile_dpbuud(1, 4, 7);
  }
}
template <GroupKind Kind>
[[gnu::always_inline]] inline void MultiplyLower() {
  if constexpr (Kind == GroupKind::Bf16) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  } else if constexpr (Kind == GroupKind::SS) {
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  } else if constexpr (Kind == GroupKind::SU) {
    _tile_dpbsud(2, 5, 6);
    _tile_dpbsud(3, 5, 7);
  } else if constexpr (Kind == GroupKind::US) {
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  } else {
    _tile_dpbuud(2, 5, 6);
    _tile_dpbuud(3, 5, 7);
  }
}

template <GroupKind Kind, bool Both>
void Multiply(const GroupArgs& args) {
  const auto* left = static_cast<const uint8_t*>(args.left);
  const auto* right = static_cast<const uint8_t*>(args.right);
  auto* sums = static_cast<uint8_t*>(args.sums);
  const auto left_stride = static_cast<size_t>(args.left_stride),
             sums_stride = static_cast<size_t>(args.sums_stride);
  constexpr int64_t kColumnBytes = kGroupColumns * 4, kHalf = kGroupRows / 2;
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
  for (int64_t k = 0; k < args.steps; ++k, left += kGroupStepBytes, right += kHalf * kColumnBytes) {
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

template <GroupKind Kind>
void MultiplyRows(int64_t rows, const GroupArgs& args) {
  if (rows > kGroupRows / 2)
    Multiply<Kind, true>(args);
  else
    Multiply<Kind, false>(args);
}

void Configure(int64_t rows) {
  TileConfig config;
  const auto upper = static_cast<uint8_t>(rows < kGroupRows / 2 ? rows : kGroupRows / 2),
             lower = static_cast<uint8_t>(rows - upper > 0 ? rows - upper : 1);
  for (int t = 0; t < 8; ++t) {
    config.bytes_per_row[t] = 64;
    config.rows[t] = 16;
  }
  config.rows[0] = config.rows[1] = config.rows[4] = upper;
  config.rows[2] = config.rows[3] = config.rows[5] = lower;
  _tile_loadconfig(&config);
}

void Release() { _tile_release(); }

void MultiplyTiles(GroupKind kind, int64_t rows, const GroupArgs& args) {
  switch (kind) {
    case GroupKind::Bf16: return MultiplyRows<GroupKind::Bf16>(rows, args);
    case GroupKind::SS: return MultiplyRows<GroupKind::SS>(rows, args);
    case GroupKind::SU: return MultiplyRows<GroupKind::SU>(rows, args);
    case GroupKind::US: return MultiplyRows<GroupKind::US>(rows, args);
    case GroupKind::UU: return MultiplyRows<GroupKind::UU>(rows, args);
  }
}

#pragma clang attribute pop

// What any machine runs, to learn whether it has the registers, stands outside of the code for them.

constexpr GroupKernels kKernels = {.name = "tile registers",
                                   .multiply = &MultiplyTiles,
                                   .prepare = &Configure,
                                   .release = &Release,
                                   .row_piece = 512,
                                   .column_piece = 512,
                                   .work_per_task = 1e7,
                                   .long_row_piece = 2048,
                                   .long_column_piece = 1024,
                                   .rows_stay = true};

bool AskForTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return HasCpuFeatures({"amx-tile", "amx-bf16", "amx-int8", "avx512bw", "avx512vl"}) &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

const GroupKernels* TileRegisterKernels() {
  static const bool has = AskForTiles();
  return has ? &kKernels : nullptr;
}

}  // namespace hlo::gemm
