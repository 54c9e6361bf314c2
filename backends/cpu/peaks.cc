#include "backends/cpu/peaks.h"

#include <immintrin.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "backends/products/common/kernels.h"
#include "backends/products/common/vnni_kernels.h"
#include "ir/support/buffer.h"
#include "ir/support/parallel.h"

namespace hlo::cpu {
namespace {

constexpr int kChains = 12;
/// Rounds of a measurement, of which the best counts, and what one of them should take.
constexpr int kRounds = 4;
constexpr double kRoundSeconds = 1e-3;

struct Loops {
  size_t bytes;
  void (*f32)(int64_t steps);
  void (*f64)(int64_t steps);
  void (*triad)(float* a, const float* b, const float* c, int64_t n, int64_t repeats);
};

namespace baseline {
constexpr size_t kBytes = 16;
#include "backends/cpu/peak_loops.inc"
}  // namespace baseline

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
namespace avx2 {
constexpr size_t kBytes = 32;
#include "backends/cpu/peak_loops.inc"
}  // namespace avx2
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
namespace avx512 {
constexpr size_t kBytes = 64;
#include "backends/cpu/peak_loops.inc"
}  // namespace avx512
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("amx-tile,amx-bf16,amx-int8"))), apply_to = function)
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes_per_row[16] = {};
  uint8_t rows[16] = {};
};
constexpr int kSums = 4, kTilesUsed = kSums + 2;  // and two factors
constexpr uint16_t kTileRowBytes = 64;
constexpr uint8_t kTileRows = 16;
void TileProducts(bool bf16, int64_t steps) {
  TileConfig config;
  std::fill_n(config.bytes_per_row, kTilesUsed, kTileRowBytes);
  std::fill_n(config.rows, kTilesUsed, kTileRows);
  _tile_loadconfig(&config);
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3), _tile_zero(4), _tile_zero(5);
  for (int64_t s = 0; s < steps; ++s) {
    if (bf16)
      _tile_dpbf16ps(0, 4, 5), _tile_dpbf16ps(1, 4, 5), _tile_dpbf16ps(2, 4, 5), _tile_dpbf16ps(3, 4, 5);
    else
      _tile_dpbssd(0, 4, 5), _tile_dpbssd(1, 4, 5), _tile_dpbssd(2, 4, 5), _tile_dpbssd(3, 4, 5);
  }
  _tile_release();
}
#pragma clang attribute pop

/// Sums of `add`, whose registers are so wide, in independent chains.
#define HLO_CHAINS(Sum, add)                                                                               \
  Sum sums[kChains] = {};                                                                                  \
  __m512i x = _mm512_setzero_si512();                                                                      \
  asm volatile("" : "+v"(x));                                                                              \
  for (int64_t s = 0; s < steps; ++s) _Pragma("clang loop unroll(full)") for (Sum & sum : sums) sum = add; \
  for (Sum & sum : sums) asm volatile("" : : "v"(sum))

#pragma clang attribute push(__attribute__((target("avx512f,avx512bf16"))), apply_to = function)
void PairProducts(int64_t steps) {
  HLO_CHAINS(__m512, _mm512_dpbf16_ps(sum, __builtin_bit_cast(__m512bh, x), __builtin_bit_cast(__m512bh, x)));
}
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("avx512f,avx512vnni"))), apply_to = function)
void FourProducts(int64_t steps) { HLO_CHAINS(__m512i, _mm512_dpbusd_epi32(sum, x, x)); }
#pragma clang attribute pop
#undef HLO_CHAINS

const Loops& HostLoops() {
  switch (gemm::HostIsa()) {
    case gemm::Isa::Avx512: return avx512::kLoops;
    case gemm::Isa::Avx2: return avx2::kLoops;
    default: return baseline::kLoops;
  }
}

double SecondsOf(llvm::function_ref<void()> f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The best rate of a loop that does `work` per step, on one thread or all of them together. `run` makes a
/// number of steps on one thread.
double Rate(double work, llvm::function_ref<void(int64_t thread, int64_t steps)> run) {
  int64_t steps = 1;
  double seconds = 0;
  constexpr double kEnough = kRoundSeconds / 4;  // to tell how many steps a round has
  while ((seconds = SecondsOf([&] { run(0, steps); })) < kEnough) steps *= 2;
  double best = work * static_cast<double>(steps) / seconds;
  steps = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(steps) * kRoundSeconds / seconds));
  const int64_t threads = ThreadCount();
  for (int round = 0; round < (seconds > kRoundSeconds ? kRounds / 2 : kRounds); ++round) {
    const double time = SecondsOf([&] {
      ParallelFor(0, threads, 1, [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t) run(t, steps);
      });
    });
    best = std::max(best, work * static_cast<double>(steps * threads) / time);
  }
  return best;
}

constexpr int64_t kArrays = 3;

/// Bytes per second over three arrays that take `bytes` together, per thread.
double Bandwidth(const Loops& loops, int64_t bytes) {
  constexpr int64_t kVector = 64;
  const int64_t n = bytes / kArrays / static_cast<int64_t>(sizeof(float)) / kVector * kVector,
                threads = ThreadCount();
  const auto memory = MakeBuffer<float>(static_cast<size_t>(kArrays * n * threads));
  ParallelFor(0, threads, 1, [&](int64_t begin, int64_t end) {
    std::fill(memory.get() + kArrays * n * begin, memory.get() + kArrays * n * end, 1.0F);
  });
  return Rate(static_cast<double>(kArrays * n * static_cast<int64_t>(sizeof(float))),
              [&](int64_t t, int64_t steps) {
                float* mine = memory.get() + kArrays * n * t;
                loops.triad(mine, mine + n, mine + 2 * n, n, steps);
              });
}

Peaks Measure() {
  const Loops& loops = HostLoops();
  Peaks peaks;
  constexpr size_t kPairLanes = 32, kFourLanes = 64;  // steps of a register of 64 bytes
  const auto multiply_adds = [&](size_t lanes, void (*loop)(int64_t)) {
    constexpr int64_t kStep = 1024;
    return Rate(2.0 * static_cast<double>(lanes) * kChains * kStep,
                [&](int64_t, int64_t steps) { loop(steps * kStep); });
  };
  peaks.f32 = multiply_adds(loops.bytes / sizeof(float), loops.f32);
  peaks.f64 = multiply_adds(loops.bytes / sizeof(double), loops.f64);
  peaks.bf16 = gemm::PairKernels() != nullptr ? multiply_adds(kPairLanes, &PairProducts) : peaks.f32;
  peaks.s8 = gemm::FourKernels() != nullptr ? multiply_adds(kFourLanes, &FourProducts) : peaks.f32;
  if (gemm::TileRegisterKernels() != nullptr) {
    constexpr int64_t kStep = 64, kColumns = 16, kPairedDepth = 32, kDepth = 64;
    const auto tiles = [&](bool bf16) {
      return Rate(2.0 * kSums * kStep * kTileRows * kColumns * (bf16 ? kPairedDepth : kDepth),
                  [&](int64_t, int64_t steps) { TileProducts(bf16, steps * kStep); });
    };
    peaks.bf16 = std::max(peaks.bf16, tiles(true));
    peaks.s8 = std::max(peaks.s8, tiles(false));
  }
  const int64_t threads = ThreadCount();
  const auto size = [](int name, int64_t otherwise) {
    const int64_t found = sysconf(name);
    return found > 0 ? found : otherwise;
  };
  constexpr int64_t kUnknownL1 = 32 << 10, kUnknownL2 = 1 << 20;
  const int64_t l1 = size(_SC_LEVEL1_DCACHE_SIZE, kUnknownL1), l2 = size(_SC_LEVEL2_CACHE_SIZE, kUnknownL2);
  // Virtual machines report the cache of the whole processor; a share of it is what they get.
  constexpr int64_t kShare = 48 << 20, kMemory = 64 << 20, kUnknownL3 = 16 << 20;
  const int64_t l3 =
      std::clamp(size(_SC_LEVEL3_CACHE_SIZE, kUnknownL3), l2 * threads * 2, kShare + l2 * threads);
  peaks.levels = {{"L1", l1 * threads, Bandwidth(loops, l1 - l1 / kArrays)},
                  {"L2", l2 * threads, Bandwidth(loops, l2 / 2)},
                  {"L3", l3, Bandwidth(loops, l3 / 2 / threads)},
                  {"memory", INT64_MAX, Bandwidth(loops, kMemory / threads)}};
  peaks.f32_products = peaks.f32, peaks.f64_products = peaks.f64;
  return peaks;
}

}  // namespace

const Peaks::Level& Peaks::LevelOf(double bytes) const {
  for (const Level& level : levels)
    if (bytes <= static_cast<double>(level.bytes)) return level;
  return levels.back();
}

const Peaks& MeasuredPeaks() {
  static const Peaks kPeaks = Measure();
  return kPeaks;
}

}  // namespace hlo::cpu
