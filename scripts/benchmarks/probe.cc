// What this machine can do at most: multiply-adds per type, bandwidth per level of the memory, latencies, and
// rates of what sorts, histograms and random numbers consist of. Prints JSON.
// Usage: probe THREADS [bandwidth]
#include <immintrin.h>
#include <sys/mman.h>
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
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    for (int s = 0; s < kSteps; ++s) {
      if (bf16) {
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 5);
        _tile_dpbf16ps(2, 4, 5);
        _tile_dpbf16ps(3, 4, 5);
      } else {
        _tile_dpbssd(0, 4, 5);
        _tile_dpbssd(1, 4, 5);
        _tile_dpbssd(2, 4, 5);
        _tile_dpbssd(3, 4, 5);
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

/// Quotients of vectors per second.
double DivisionPeak(int threads) {
  typedef float V __attribute__((vector_size(kBytes)));
  constexpr int kChains = 12, kSteps = 400'000;
  return Rate(threads, static_cast<double>(kBytes / sizeof(float)) * kChains * kSteps, [](int) {
    V x[kChains], a = {};
    a += 1.0001F;
    for (V& v : x) v = a;
    asm volatile("" : "+v"(a));
    for (int s = 0; s < kSteps; ++s)
#pragma clang loop unroll(full)
      for (V& v : x) {
        v = v / a;
        asm volatile("" : "+v"(v));
      }
    for (V& v : x) asm volatile("" : : "v"(v));
  });
}

/// Seconds from an operand to the result of one scalar operation, by a chain of them.
template <class T, class F>
double Latency(F step) {
  constexpr int kSteps = 250'000, kUnrolled = 8;  // so that branches do not count
  const double rate = Rate(1, kSteps * kUnrolled, [&](int) {
    T x = 1;
    for (int s = 0; s < kSteps; ++s)
#pragma clang loop unroll(full)
      for (int k = 0; k < kUnrolled; ++k) {
        x = step(x);
        if constexpr (sizeof(T) == 8)
          asm volatile("" : "+r"(x));
        else
          asm volatile("" : "+x"(x));
      }
  });
  return 1 / rate;
}

/// Items per second of one pass of a radix sort with digits of 11 bits over arrays of n items: the counts of
/// all digits, which one reading gives for all passes, do not count.
template <class T>
double RadixPass(int threads, size_t n) {
  constexpr size_t kDigits = 2048;
  std::vector<std::vector<T>> from(static_cast<size_t>(threads), std::vector<T>(n)), to = from;
  std::vector<uint32_t> first(kDigits, 0);
  uint32_t state = 1;
  for (T& x : from[0]) x = static_cast<T>((state = state * 1664525 + 1013904223) >> 12);
  for (const T x : from[0]) ++first[x % kDigits];
  for (uint32_t digit = 0, sum = 0; digit < kDigits; ++digit) {
    const uint32_t count = first[digit];
    first[digit] = sum;
    sum += count;
  }
  for (auto& items : from) items = from[0];
  const int repeats = static_cast<int>(std::max<size_t>(1, (size_t{1} << 22) / n));
  return Rate(threads, static_cast<double>(n) * repeats, [&](int t) {
    const T* in = from[static_cast<size_t>(t)].data();
    T* out = to[static_cast<size_t>(t)].data();
    std::vector<uint32_t> next(kDigits);
    for (int r = 0; r < repeats; ++r) {
      next = first;
      for (size_t i = 0; i < n; ++i) out[next[in[i] % kDigits]++] = in[i];
      asm volatile("" : : "r"(out) : "memory");
    }
  });
}

/// Counters in the first cache incremented per second, at random places, in eight tables by turns.
double Updates(int threads) {
  constexpr size_t kCount = 1 << 12, kRepeats = 512;
  std::vector<uint32_t> places(kCount);
  uint32_t state = 1;
  for (uint32_t& x : places) x = (state = state * 1664525 + 1013904223) >> 22;
  return Rate(threads, static_cast<double>(kCount * kRepeats), [&](int) {
    std::vector<uint32_t> counters(8 << 10);
    uint32_t* table = counters.data();
    for (size_t r = 0; r < kRepeats; ++r) {
      for (size_t i = 0; i < kCount; i += 8)
#pragma clang loop unroll(full)
        for (size_t k = 0; k < 8; ++k) ++table[(k << 10) + places[i + k]];
      asm volatile("" : : "r"(table) : "memory");
    }
  });
}

/// Elements of 4 bytes per second that are read at random places, none waiting for another, of one array of
/// `bytes` that all threads share, written side by side.
double RandomReads(int threads, size_t bytes) {
  constexpr size_t kCount = 1 << 18, kHugePage = 1 << 21;
  const size_t n = bytes / sizeof(uint32_t);
  auto* array = static_cast<uint32_t*>(std::aligned_alloc(kHugePage, std::max(bytes, kHugePage)));
  madvise(array, bytes, MADV_HUGEPAGE);
  std::memset(array, 1, bytes);
  std::vector<std::vector<uint32_t>> places(static_cast<size_t>(threads), std::vector<uint32_t>(kCount)),
      out = places;
  uint64_t state = 1;
  for (auto& own : places)
    for (uint32_t& x : own)
      x = static_cast<uint32_t>((state = state * 6364136223846793005ULL + 1442695040888963407ULL) >> 33) % n;
  constexpr int kRepeats = 8;
  const double rate = Rate(threads, static_cast<double>(kCount) * kRepeats, [&](int t) {
    const uint32_t* from = places[static_cast<size_t>(t)].data();
    uint32_t* to = out[static_cast<size_t>(t)].data();
    for (int r = 0; r < kRepeats; ++r) {
      for (size_t i = 0; i < kCount; ++i) to[i] = array[from[i]];
      asm volatile("" : : "r"(to) : "memory");
    }
  });
  std::free(array);
  return rate;
}

/// Words per second of Philox 4x32-10, which stay in registers.
double PhiloxWords(int threads) {
  typedef uint64_t V __attribute__((vector_size(kBytes)));  // a word of a block in the low half of each lane
  constexpr int kSteps = 200'000, kLanes = kBytes / 8;
  return Rate(threads, 4.0 * kLanes * kSteps, [](int) {
    V counter = {}, used = {};
    for (int i = 0; i < kLanes; ++i) counter[i] = static_cast<uint64_t>(i);
    const V low = V{} + 0xffffffffULL;
    for (int s = 0; s < kSteps; ++s) {
      V x0 = counter & low, x1 = counter >> 32, x2 = {}, x3 = {};
      uint64_t key0 = 1, key1 = 2;
#pragma clang loop unroll(full)
      for (int round = 0; round < 10; ++round) {
        const V p0 = x0 * 0xD2511F53ULL, p1 = x2 * 0xCD9E8D57ULL;
        x0 = (p1 >> 32) ^ x1 ^ key0;
        x2 = (p0 >> 32) ^ x3 ^ key1;
        x1 = p1 & low;
        x3 = p0 & low;
        key0 = (key0 + 0x9E3779B9) & 0xffffffff;
        key1 = (key1 + 0xBB67AE85) & 0xffffffff;
      }
      used ^= x0 ^ x1 ^ x2 ^ x3;
      counter += static_cast<uint64_t>(kLanes);
    }
    asm volatile("" : : "v"(used));
  });
}

}  // namespace

/// By the bytes that the arrays take.
void PrintBandwidth(int threads) {
  const char* separator = "[";
  for (const size_t bytes : {size_t{32} << 10, size_t{1} << 20, size_t{24} << 20, size_t{192} << 20}) {
    std::printf("%s{\"bytes\":%zu,\"rate\":%.4g}", separator, bytes, Triad(threads, bytes));
    separator = ",";
  }
  std::printf("]");
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (argc > 2 && std::strcmp(argv[2], "bandwidth") == 0) return PrintBandwidth(threads), 0;
  const double f32 = FmaPeak<float>(threads);
  std::printf("{\"flops\":{\"f32\":%.4g,\"f64\":%.4g,\"bf16\":%.4g,\"s8\":%.4g},\"bandwidth\":", f32,
              FmaPeak<double>(threads), std::max({f32, GroupPeak(threads, true), TilePeak(threads, true)}),
              std::max({f32, GroupPeak(threads, false), TilePeak(threads, false)}));
  PrintBandwidth(threads);
  std::printf(",\"latency\":{\"add\":%.4g,\"multiply\":%.4g,\"fma\":%.4g,\"divide\":%.4g,\"integer\":%.4g},",
              Latency<float>([](float x) { return x + 1.0F; }),
              Latency<float>([](float x) { return x * 1.0000001F; }),
              Latency<float>([](float x) { return __builtin_fmaf(x, 0.999F, 0.5F); }),
              Latency<float>([](float x) { return 1.5F / x; }),
              Latency<uint64_t>([](uint64_t x) { return x + 1; }));
  std::printf("\"rates\":{\"division\":%.4g,\"update\":%.4g,\"philox\":%.4g,\"radix\":[",
              DivisionPeak(threads), Updates(threads), PhiloxWords(threads));
  const char* separator = "";
  for (const size_t n : {size_t{1} << 12, size_t{1} << 20}) {
    std::printf("%s{\"items\":%zu,\"4\":%.4g,\"8\":%.4g}", separator, n, RadixPass<uint32_t>(threads, n),
                RadixPass<uint64_t>(threads, n));
    separator = ",";
  }
  std::printf("],\"reads\":[");
  separator = "";
  for (const size_t bytes : {size_t{256} << 10, size_t{4} << 20, size_t{64} << 20}) {
    std::printf("%s{\"bytes\":%zu,\"rate\":%.4g}", separator, bytes, RandomReads(threads, bytes));
    separator = ",";
  }
  std::printf("]}}\n");
}
