// Products of fours of bytes by AArch64's instructions for dot products.
#if defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>

#include <algorithm>

#include "backends/products/common/vnni_kernels.h"

#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)

namespace hlo::gemm {
namespace {

/// Both factors have the same sign for the instructions: of mixed kinds the left one has been moved by 128 to
/// the right one's, and 128 times the right one's sums are taken away or added.
bool MovesLeft(GroupKind kind) { return kind == GroupKind::SU || kind == GroupKind::US; }

struct Signed {
  static constexpr int kMoved = 128;  // what was taken from a left factor that was moved to this sign
  template <int Lane>
  [[gnu::always_inline]] static int32x4_t Add(int32x4_t sums, uint8x16_t right, uint8x16_t left) {
    return vdotq_laneq_s32(sums, vreinterpretq_s8_u8(right), vreinterpretq_s8_u8(left), Lane);
  }
};
struct Unsigned {
  static constexpr int kMoved = -128;
  template <int Lane>
  [[gnu::always_inline]] static int32x4_t Add(int32x4_t sums, uint8x16_t right, uint8x16_t left) {
    return vreinterpretq_s32_u32(vdotq_laneq_u32(vreinterpretq_u32_s32(sums), right, left, Lane));
  }
};

constexpr int kLanes = 4, kTileRows = 4, kTileVectors = 4, kTileColumns = kLanes * kTileVectors;
constexpr int64_t kFour = 4, kRightBytes = kFour * kGroupColumns, kLeftBytes = 16;

/// Four fours of steps: what follows from the left factor at `left` and the right one at `right`.
template <class M, int Rows, int Lane = 0>
[[gnu::always_inline]] inline void AddFours(const uint8_t* right, const uint8x16_t (&left)[Rows],
                                            int32x4_t (&sums)[Rows][kTileVectors]) {
  uint8x16_t row[kTileVectors];
#pragma clang loop unroll(full)
  for (int j = 0; j < kTileVectors; ++j) row[j] = vld1q_u8(right + Lane * kRightBytes + j * kLeftBytes);
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < kTileVectors; ++j) sums[i][j] = M::template Add<Lane>(sums[i][j], row[j], left[i]);
  if constexpr (Lane + 1 < kFour) AddFours<M, Rows, Lane + 1>(right, left, sums);
}

/// kTileColumns columns of some rows, from `start` on.
template <class M, int Rows>
void Tile(const GroupArgs& args, const uint8_t* left, const uint8_t* right, uint8_t* out,
          const int32x4_t (&start)[kTileVectors]) {
  int32x4_t sums[Rows][kTileVectors];
  const auto at = [&](int i, int j) {
    return reinterpret_cast<int32_t*>(out + i * args.sums_stride) + int64_t{kLanes} * j;
  };
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < kTileVectors; ++j)
      sums[i][j] = args.accumulate ? vaddq_s32(start[j], vld1q_s32(at(i, j))) : start[j];
  for (int64_t k = 0; k < args.steps * (kGroupStepBytes / kLeftBytes); ++k) {
    uint8x16_t rows[Rows];
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i) rows[i] = vld1q_u8(left + i * args.left_stride);
    AddFours<M, Rows>(right, rows, sums);
    left += kLeftBytes;
    right += kLeftBytes / kFour * kRightBytes;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < kTileVectors; ++j) vst1q_s32(at(i, j), sums[i][j]);
}

/// All rows of kTileColumns columns.
template <class M>
void MultiplyColumns(bool moved, int64_t rows, const GroupArgs& args, int64_t column) {
  const auto* left = static_cast<const uint8_t*>(args.left);
  const uint8_t* right = static_cast<const uint8_t*>(args.right) + column * kFour;
  uint8_t* out = static_cast<uint8_t*>(args.sums) + column * kFour;
  int32x4_t start[1][kTileVectors] = {};
  if (moved) {
    const uint8x16_t ones[1] = {vdupq_n_u8(1)};
    for (int64_t k = 0; k < args.steps * (kGroupStepBytes / kLeftBytes); ++k)
      AddFours<M, 1>(right + k * (kLeftBytes / kFour * kRightBytes), ones, start);
    for (int32x4_t& sum : start[0]) sum = vmulq_n_s32(sum, M::kMoved);
  }
  using Run =
      void(const GroupArgs&, const uint8_t*, const uint8_t*, uint8_t*, const int32x4_t(&)[kTileVectors]);
  static constexpr Run* kRun[] = {&Tile<M, 1>, &Tile<M, 2>, &Tile<M, 3>, &Tile<M, kTileRows>};
  for (int64_t i = 0; i < rows; i += kTileRows)
    kRun[std::min<int64_t>(rows - i, kTileRows) - 1](args, left + i * args.left_stride, right,
                                                     out + i * args.sums_stride, start[0]);
}

void Multiply(GroupKind kind, int64_t rows, const GroupArgs& args) {
  const bool is_signed = kind == GroupKind::SS || kind == GroupKind::US;
  for (int64_t column = 0; column < std::min(args.columns, kGroupColumns); column += kTileColumns)
    if (is_signed)
      MultiplyColumns<Signed>(MovesLeft(kind), rows, args, column);
    else
      MultiplyColumns<Unsigned>(MovesLeft(kind), rows, args, column);
}

constexpr GroupKernels kKernels = {.name = "fours by dot products",
                                   .multiply = &Multiply,
                                   .prepare = nullptr,
                                   .release = nullptr,
                                   .row_piece = 256,
                                   .column_piece = 256,
                                   .work_per_task = 1e6,
                                   .moves_left = &MovesLeft};

}  // namespace

const GroupKernels* FourKernels() {
  static const bool has = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  return has ? &kKernels : nullptr;
}

}  // namespace hlo::gemm

#pragma clang attribute pop
#endif
