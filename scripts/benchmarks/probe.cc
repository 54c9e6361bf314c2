// What this machine can do at most: multiply-adds per type, bandwidth per level of the memory. Prints JSON.
// Usage: probe THREADS
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace {

double Seconds(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The best rate of several measurements of `work` units per call, on all threads together.
double Rate(int threads, double work, const std::function<void(int)>& f) {
  double best = 0;
  for (int round = 0; round < 7; ++round) {
    const double seconds = Seconds([&] {
      std::vector<std::thread> others;
      for (int t = 1; t < threads; ++t) others.emplace_back(f, t);
      f(0);
      for (std::thread& t : others) t.join();
    });
    best = std::max(best, work * threads / seconds);
  }
  return best;
}

#ifdef __AVX512F__
constexpr int kBytes = 64;
#else
constexpr int kBytes = 32;
#endif

template <class T>
double FmaPeak(int threads) {
  typedef T V __attribute__((vector_size(kBytes)));
  constexpr int kChains = 12, kSteps = 4'000'000;
  constexpr int kLanes = kBytes / sizeof(T);
  return Rate(threads, 2.0 * kLanes * kChains * kSteps, [](int) {
    V x[kChains], a, b;
    for (int i = 0; i < kLanes; ++i) a[i] = static_cast<T>(0.999), b[i] = static_cast<T>(0.001);
    for (V& v : x) v = b;
    asm volatile("" : "+v"(a), "+v"(b));
    for (int s = 0; s < kSteps; ++s)
#pragma clang loop unroll(full)
      for (V& v : x) v = v * a + b;
    for (V& v : x) asm volatile("" : : "v"(v));
  });
}

/// Bytes per second of a[i] = b[i] + s * c[i] over arrays that take `bytes` together, per thread.
double Triad(int threads, size_t bytes) {
  const size_t n = bytes / 3 / sizeof(float) / 64 * 64;
  std::vector<std::vector<float>> arrays(static_cast<size_t>(threads) * 3, std::vector<float>(n, 1.0F));
  const int repeats = static_cast<int>(std::max<size_t>(1, (size_t{1} << 28) / bytes));
  return Rate(threads, 3.0 * sizeof(float) * static_cast<double>(n) * repeats, [&](int t) {
    const size_t at = static_cast<size_t>(t) * 3;
    float *__restrict a = arrays[at].data(), *__restrict b = arrays[at + 1].data(),
          *__restrict c = arrays[at + 2].data();
    for (int r = 0; r < repeats; ++r) {
      for (size_t i = 0; i < n; ++i) a[i] = b[i] + 0.5F * c[i];
      asm volatile("" : : "r"(a) : "memory");
    }
  });
}

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)
struct alignas(64) TileConfig {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
double TilePeak(int threads, bool bf16) {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) return 0;
  constexpr int kSteps = 500'000;
  return Rate(threads, 4.0 * kSteps * 2 * 16 * 16 * (bf16 ? 32 : 64), [bf16](int) {
    const TileConfig config;
    _tile_loadconfig(&config);
    _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3), _tile_zero(4), _tile_zero(5);
    for (int s = 0; s < kSteps; ++s) {
      if (bf16) {
        _tile_dpbf16ps(0, 4, 5), _tile_dpbf16ps(1, 4, 5), _tile_dpbf16ps(2, 4, 5), _tile_dpbf16ps(3, 4, 5);
      } else {
        _tile_dpbssd(0, 4, 5), _tile_dpbssd(1, 4, 5), _tile_dpbssd(2, 4, 5), _tile_dpbssd(3, 4, 5);
      }
    }
    _tile_release();
  });
}
#else
double TilePeak(int, bool) { return 0; }
#endif

/// Products of pairs of BF16 numbers or fours of bytes.
#if defined(__AVX512BF16__) && defined(__AVX512VNNI__)
double GroupPeak(int threads, bool bf16) {
  constexpr int kChains = 12, kSteps = 4'000'000;
  return Rate(threads, 2.0 * kChains * kSteps * (bf16 ? 32 : 64), [bf16](int) {
    __m512i x = _mm512_setzero_si512(), words[kChains] = {};
    __m512 floats[kChains] = {};
    asm volatile("" : "+v"(x));
    if (bf16) {
      for (int s = 0; s < kSteps; ++s)
#pragma clang loop unroll(full)
        for (__m512& v : floats) v = _mm512_dpbf16_ps(v, (__m512bh)x, (__m512bh)x);
    } else {
      for (int s = 0; s < kSteps; ++s)
#pragma clang loop unroll(full)
        for (__m512i& v : words) v = _mm512_dpbusd_epi32(v, x, x);
    }
    for (int i = 0; i < kChains; ++i) asm volatile("" : : "v"(floats[i]), "v"(words[i]));
  });
}
#else
double GroupPeak(int, bool) { return 0; }
#endif

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const double f32 = FmaPeak<float>(threads);
  std::printf("{\"flops\":{\"f32\":%.4g,\"f64\":%.4g,\"bf16\":%.4g,\"s8\":%.4g},\"bandwidth\":[", f32,
              FmaPeak<double>(threads), std::max({f32, GroupPeak(threads, true), TilePeak(threads, true)}),
              std::max({f32, GroupPeak(threads, false), TilePeak(threads, false)}));
  const char* separator = "";
  for (const size_t bytes : {size_t{32} << 10, size_t{1} << 20, size_t{24} << 20, size_t{768} << 20}) {
    std::printf("%s{\"bytes\":%zu,\"rate\":%.4g}", separator, bytes, Triad(threads, bytes));
    separator = ",";
  }
  std::printf("]}\n");
}
