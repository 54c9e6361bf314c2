#include "ir/eval/gemm_kernel.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "ir/support/cpu_features.h"

namespace hlo {
namespace {

enum class Isa { Baseline, Avx2, Avx512 };

#if defined(__x86_64__)
#define HLO_TARGET_AVX2   __attribute__((target("avx2,fma")))
#define HLO_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")))

Isa DetectIsa() {
  if (HasCpuFeatures({"avx512f", "avx512dq", "avx512bw", "avx512vl"})) return Isa::Avx512;
  if (HasCpuFeatures({"avx2", "fma"})) return Isa::Avx2;
  return Isa::Baseline;
}

Isa CurrentIsa() {
  static const Isa isa = DetectIsa();
  return isa;
}
#else
#define HLO_TARGET_AVX2
#define HLO_TARGET_AVX512

constexpr Isa CurrentIsa() { return Isa::Baseline; }
#endif

template <class T, int Count>
struct VectorOf {
  using Type = T __attribute__((ext_vector_type(Count)));
};
template <class T, int Count>
using Vector = typename VectorOf<T, Count>::Type;

/// acc += x * y, fused if the instruction set has it.
template <bool Fused, class V>
[[gnu::always_inline]] inline void MultiplyAdd(V& acc, const V& x, const V& y) {
  if constexpr (Fused)
    acc = __builtin_elementwise_fma(x, y, acc);
  else
    acc += x * y;
}

template <class T, int Lanes, int Mr, int Vectors, bool Fused>
[[gnu::always_inline]] inline void Tile(int64_t kc, const T* a, const T* b, T* const* c, bool accumulate) {
  using V = Vector<T, Lanes>;
  V acc[Mr][Vectors];
#pragma clang loop unroll(full)
  for (int i = 0; i < Mr; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < Vectors; ++j) acc[i][j] = V(T(0));
  for (int64_t k = 0; k < kc; ++k, a += Mr, b += Lanes * Vectors) {
    V row[Vectors];
#pragma clang loop unroll(full)
    for (int j = 0; j < Vectors; ++j) std::memcpy(&row[j], b + j * Lanes, sizeof(V));
#pragma clang loop unroll(full)
    for (int i = 0; i < Mr; ++i) {
      const V x = V(a[i]);
#pragma clang loop unroll(full)
      for (int j = 0; j < Vectors; ++j) MultiplyAdd<Fused>(acc[i][j], x, row[j]);
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < Mr; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < Vectors; ++j) {
      V value = acc[i][j];
      if (accumulate) {
        V old;
        std::memcpy(&old, c[i] + j * Lanes, sizeof(V));
        value = old + value;
      }
      std::memcpy(c[i] + j * Lanes, &value, sizeof(V));
    }
}

template <class T>
inline constexpr bool kFusable = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool kBaselineFused = kAlwaysFused && kFusable<T>;

template <class T>
void TileBaseline(int64_t kc, const T* a, const T* b, T* const* c, bool accumulate) {
  Tile<T, 16 / sizeof(T), 4, 2, kBaselineFused<T>>(kc, a, b, c, accumulate);
}
template <class T>
HLO_TARGET_AVX2 void TileAvx2(int64_t kc, const T* a, const T* b, T* const* c, bool accumulate) {
  Tile<T, 32 / sizeof(T), 4, 2, kFusable<T>>(kc, a, b, c, accumulate);
}
template <class T>
HLO_TARGET_AVX512 void TileAvx512(int64_t kc, const T* a, const T* b, T* const* c, bool accumulate) {
  Tile<T, 64 / sizeof(T), 12, 2, kFusable<T>>(kc, a, b, c, accumulate);
}

/// BF16 codes widen to float; everything else is taken as it is.
template <class T, int Lanes, class W>
[[gnu::always_inline]] inline void LoadVector(Vector<T, Lanes>& v, const W* p) {
  if constexpr (std::is_same_v<T, W>) {
    std::memcpy(&v, p, sizeof(v));
  } else {
    Vector<uint16_t, Lanes> codes;
    std::memcpy(&codes, p, sizeof(codes));
    const Vector<uint32_t, Lanes> wide = __builtin_convertvector(codes, Vector<uint32_t, Lanes>) << 16;
    std::memcpy(&v, &wide, sizeof(v));
  }
}
template <class T, class W>
[[gnu::always_inline]] inline T LoadOne(const W* p) {
  if constexpr (std::is_same_v<T, W>)
    return *p;
  else
    return std::bit_cast<float>(static_cast<uint32_t>(*p) << 16);
}

template <class T, class W, int Rows, bool Fused>
[[gnu::always_inline]] inline void DotRowsBody(const W* w, int64_t count, const T* x, int64_t x_stride,
                                               T* out) {
  constexpr int kLanes = 64 / sizeof(T), kUnroll = Rows > 2 ? 2 : 4;
  using V = Vector<T, kLanes>;
  V acc[Rows][kUnroll];
  for (int p = 0; p < Rows; ++p)
    for (int u = 0; u < kUnroll; ++u) acc[p][u] = V(T(0));
  constexpr int64_t kStep = int64_t{kLanes} * kUnroll;
  int64_t k = 0;
  for (; k + kStep <= count; k += kStep)
#pragma clang loop unroll(full)
    for (int u = 0; u < kUnroll; ++u) {
      V weight;
      LoadVector<T, kLanes>(weight, w + k + u * kLanes);
#pragma clang loop unroll(full)
      for (int p = 0; p < Rows; ++p) {
        V value;
        std::memcpy(&value, x + p * x_stride + k + u * kLanes, sizeof(V));
        MultiplyAdd<Fused>(acc[p][u], weight, value);
      }
    }
  for (int p = 0; p < Rows; ++p) {
    V sum = acc[p][0];
    for (int u = 1; u < kUnroll; ++u) sum += acc[p][u];
    T lanes[kLanes];
    std::memcpy(lanes, &sum, sizeof(V));
    for (int width = kLanes / 2; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
    T total = lanes[0];
    for (int64_t r = k; r < count; ++r) total += LoadOne<T>(w + r) * x[p * x_stride + r];
    out[p] += total;
  }
}

template <class T, class W, bool Fused>
[[gnu::always_inline]] inline void DotRowsAny(const W* w, int64_t count, const T* x, int64_t x_stride,
                                              int rows, T* out) {
  switch (rows) {
    case 1: return DotRowsBody<T, W, 1, Fused>(w, count, x, x_stride, out);
    case 2: return DotRowsBody<T, W, 2, Fused>(w, count, x, x_stride, out);
    case 3: return DotRowsBody<T, W, 3, Fused>(w, count, x, x_stride, out);
    default: return DotRowsBody<T, W, 4, Fused>(w, count, x, x_stride, out);
  }
}

template <class T, class W>
HLO_TARGET_AVX2 void DotRowsAvx2(const W* w, int64_t count, const T* x, int64_t x_stride, int rows, T* out) {
  DotRowsAny<T, W, kFusable<T>>(w, count, x, x_stride, rows, out);
}
template <class T, class W>
HLO_TARGET_AVX512 void DotRowsAvx512(const W* w, int64_t count, const T* x, int64_t x_stride, int rows,
                                     T* out) {
  DotRowsAny<T, W, kFusable<T>>(w, count, x, x_stride, rows, out);
}

template <class T, class W, int Rows, int Unroll, bool Fused>
[[gnu::always_inline]] inline void AccumulateStep(const W* w, const int64_t* offsets, int64_t count,
                                                  const T* x, int64_t x_stride, T* acc, int64_t acc_stride) {
  constexpr int kLanes = 64 / sizeof(T);
  using V = Vector<T, kLanes>;
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    V weight[Unroll];
#pragma clang loop unroll(full)
    for (int u = 0; u < Unroll; ++u) LoadVector<T, kLanes>(weight[u], w + offsets[u] + j);
#pragma clang loop unroll(full)
    for (int p = 0; p < Rows; ++p) {
      V sum;
      std::memcpy(&sum, acc + p * acc_stride + j, sizeof(V));
#pragma clang loop unroll(full)
      for (int u = 0; u < Unroll; ++u) MultiplyAdd<Fused>(sum, V(x[p * x_stride + u]), weight[u]);
      std::memcpy(acc + p * acc_stride + j, &sum, sizeof(V));
    }
  }
  for (; j < count; ++j)
    for (int p = 0; p < Rows; ++p)
      for (int u = 0; u < Unroll; ++u) {
        T& sum = acc[p * acc_stride + j];
        if constexpr (Fused)
          sum = __builtin_elementwise_fma(x[p * x_stride + u], LoadOne<T>(w + offsets[u] + j), sum);
        else
          sum += x[p * x_stride + u] * LoadOne<T>(w + offsets[u] + j);
      }
}

template <class T, class W, int Rows, bool Fused>
[[gnu::always_inline]] inline void AccumulateBody(const W* w, const int64_t* offsets, int64_t kc,
                                                  int64_t count, const T* x, int64_t x_stride, T* acc,
                                                  int64_t acc_stride) {
  int64_t k = 0;
  for (; k + 4 <= kc; k += 4)
    AccumulateStep<T, W, Rows, 4, Fused>(w, offsets + k, count, x + k, x_stride, acc, acc_stride);
  for (; k < kc; ++k)
    AccumulateStep<T, W, Rows, 1, Fused>(w, offsets + k, count, x + k, x_stride, acc, acc_stride);
}

template <class T, class W, bool Fused>
[[gnu::always_inline]] inline void AccumulateAny(const W* w, const int64_t* offsets, int64_t kc,
                                                 int64_t count, const T* x, int64_t x_stride, int rows,
                                                 T* acc, int64_t acc_stride) {
  switch (rows) {
    case 1: return AccumulateBody<T, W, 1, Fused>(w, offsets, kc, count, x, x_stride, acc, acc_stride);
    case 2: return AccumulateBody<T, W, 2, Fused>(w, offsets, kc, count, x, x_stride, acc, acc_stride);
    case 3: return AccumulateBody<T, W, 3, Fused>(w, offsets, kc, count, x, x_stride, acc, acc_stride);
    default: return AccumulateBody<T, W, 4, Fused>(w, offsets, kc, count, x, x_stride, acc, acc_stride);
  }
}

template <class T, class W>
HLO_TARGET_AVX2 void AccumulateAvx2(const W* w, const int64_t* offsets, int64_t kc, int64_t count, const T* x,
                                    int64_t x_stride, int rows, T* acc, int64_t acc_stride) {
  AccumulateAny<T, W, kFusable<T>>(w, offsets, kc, count, x, x_stride, rows, acc, acc_stride);
}
template <class T, class W>
HLO_TARGET_AVX512 void AccumulateAvx512(const W* w, const int64_t* offsets, int64_t kc, int64_t count,
                                        const T* x, int64_t x_stride, int rows, T* acc, int64_t acc_stride) {
  AccumulateAny<T, W, kFusable<T>>(w, offsets, kc, count, x, x_stride, rows, acc, acc_stride);
}

template <class T, class W, int Vectors, bool Fused>
[[gnu::always_inline]] inline void ProductBlock(const W* a, const int64_t* a_offsets, const W* b,
                                                const int64_t* b_offsets, int64_t kc, T* acc) {
  constexpr int kLanes = 64 / sizeof(T);
  using V = Vector<T, kLanes>;
  V sums[Vectors];
#pragma clang loop unroll(full)
  for (int v = 0; v < Vectors; ++v) std::memcpy(&sums[v], acc + v * kLanes, sizeof(V));
  for (int64_t k = 0; k < kc; ++k)
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v) {
      V x, y;
      LoadVector<T, kLanes>(x, a + a_offsets[k] + v * kLanes);
      LoadVector<T, kLanes>(y, b + b_offsets[k] + v * kLanes);
      MultiplyAdd<Fused>(sums[v], x, y);
    }
#pragma clang loop unroll(full)
  for (int v = 0; v < Vectors; ++v) std::memcpy(acc + v * kLanes, &sums[v], sizeof(V));
}

template <class T, class W, bool Fused>
[[gnu::always_inline]] inline void ProductsBody(const W* a, const int64_t* a_offsets, const W* b,
                                                const int64_t* b_offsets, int64_t kc, int64_t count, T* acc) {
  constexpr int kLanes = 64 / sizeof(T);
  constexpr int64_t kStep = int64_t{4} * kLanes;
  int64_t j = 0;
  for (; j + kStep <= count; j += kStep)
    ProductBlock<T, W, 4, Fused>(a + j, a_offsets, b + j, b_offsets, kc, acc + j);
  for (; j + kLanes <= count; j += kLanes)
    ProductBlock<T, W, 1, Fused>(a + j, a_offsets, b + j, b_offsets, kc, acc + j);
  for (; j < count; ++j) {
    T sum = acc[j];
    for (int64_t k = 0; k < kc; ++k) {
      const T x = LoadOne<T>(a + a_offsets[k] + j), y = LoadOne<T>(b + b_offsets[k] + j);
      if constexpr (Fused)
        sum = __builtin_elementwise_fma(x, y, sum);
      else
        sum += x * y;
    }
    acc[j] = sum;
  }
}

template <class T, class W>
HLO_TARGET_AVX2 void ProductsAvx2(const W* a, const int64_t* a_offsets, const W* b, const int64_t* b_offsets,
                                  int64_t kc, int64_t count, T* acc) {
  ProductsBody<T, W, kFusable<T>>(a, a_offsets, b, b_offsets, kc, count, acc);
}
template <class T, class W>
HLO_TARGET_AVX512 void ProductsAvx512(const W* a, const int64_t* a_offsets, const W* b,
                                      const int64_t* b_offsets, int64_t kc, int64_t count, T* acc) {
  ProductsBody<T, W, kFusable<T>>(a, a_offsets, b, b_offsets, kc, count, acc);
}

}  // namespace

template <class T, class W>
void AccumulateProducts(const W* a, const int64_t* a_offsets, const W* b, const int64_t* b_offsets,
                        int64_t kc, int64_t count, T* acc) {
  switch (CurrentIsa()) {
    case Isa::Avx512: return ProductsAvx512<T, W>(a, a_offsets, b, b_offsets, kc, count, acc);
    case Isa::Avx2: return ProductsAvx2<T, W>(a, a_offsets, b, b_offsets, kc, count, acc);
    default: return ProductsBody<T, W, kBaselineFused<T>>(a, a_offsets, b, b_offsets, kc, count, acc);
  }
}

template <class T>
const GemmKernel<T>& BestGemmKernel() {
  static const GemmKernel<T> kernel = [] {
    constexpr int kSize = sizeof(T);
    switch (CurrentIsa()) {
      case Isa::Avx512: return GemmKernel<T>{12, 128 / kSize, &TileAvx512<T>};
      case Isa::Avx2: return GemmKernel<T>{4, 64 / kSize, &TileAvx2<T>};
      default: return GemmKernel<T>{4, 32 / kSize, &TileBaseline<T>};
    }
  }();
  return kernel;
}

template <class T, class W>
void DotRows(const W* w, int64_t count, const T* x, int64_t x_stride, int rows, T* out) {
  switch (CurrentIsa()) {
    case Isa::Avx512: return DotRowsAvx512<T, W>(w, count, x, x_stride, rows, out);
    case Isa::Avx2: return DotRowsAvx2<T, W>(w, count, x, x_stride, rows, out);
    default: return DotRowsAny<T, W, kBaselineFused<T>>(w, count, x, x_stride, rows, out);
  }
}

template <class T, class W>
void AccumulateRows(const W* w, const int64_t* w_offsets, int64_t kc, int64_t count, const T* x,
                    int64_t x_stride, int rows, T* acc, int64_t acc_stride) {
  switch (CurrentIsa()) {
    case Isa::Avx512:
      return AccumulateAvx512<T, W>(w, w_offsets, kc, count, x, x_stride, rows, acc, acc_stride);
    case Isa::Avx2: return AccumulateAvx2<T, W>(w, w_offsets, kc, count, x, x_stride, rows, acc, acc_stride);
    default:
      return AccumulateAny<T, W, kBaselineFused<T>>(w, w_offsets, kc, count, x, x_stride, rows, acc,
                                                    acc_stride);
  }
}

#define HLO_INSTANTIATE(T, W)                                                                                \
  template void AccumulateProducts<T, W>(const W*, const int64_t*, const W*, const int64_t*, int64_t,        \
                                         int64_t, T*);                                                       \
  template void DotRows<T, W>(const W*, int64_t, const T*, int64_t, int, T*);                                \
  template void AccumulateRows<T, W>(const W*, const int64_t*, int64_t, int64_t, const T*, int64_t, int, T*, \
                                     int64_t);
HLO_INSTANTIATE(float, float)
HLO_INSTANTIATE(float, uint16_t)
HLO_INSTANTIATE(double, double)
HLO_INSTANTIATE(uint32_t, uint32_t)
HLO_INSTANTIATE(uint64_t, uint64_t)
#undef HLO_INSTANTIATE
template const GemmKernel<float>& BestGemmKernel<float>();
template const GemmKernel<double>& BestGemmKernel<double>();
template const GemmKernel<uint32_t>& BestGemmKernel<uint32_t>();
template const GemmKernel<uint64_t>& BestGemmKernel<uint64_t>();

}  // namespace hlo
