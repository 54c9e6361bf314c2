// Register-tiled matrix micro-kernels, chosen for the processor at run time.
#pragma once
#include <cstdint>

namespace hlo {

/// c(i, j) (+)= sum over k < kc of a[k * mr + i] * b[k * nr + j] for a full tile of mr x nr elements;
/// c[i] points at nr consecutive elements. Sums run over increasing k; float kernels use fused
/// multiply-adds where the processor has them, integers wrap.
template <class T>
struct GemmKernel {
  int mr, nr;
  void (*run)(int64_t kc, const T* a, const T* b, T* const* c, bool accumulate);
};

/// The best kernel for this processor; T is float, double, uint32_t or uint64_t.
template <class T>
const GemmKernel<T>& BestGemmKernel();

/// out[p] (+)= sum over k < count of x[p * x_stride + k] * w[k], for p < rows <= 4, with a fixed order
/// of additions. The weights may be T or, for float, BF16 codes.
template <class T, class W>
void DotRows(const W* w, int64_t count, const T* x, int64_t x_stride, int rows, T* out);

/// acc[p * acc_stride + j] += sum over k < kc of x[p * x_stride + k] * w[w_offsets[k] + j] for j < count.
template <class T, class W>
void AccumulateRows(const W* w, const int64_t* w_offsets, int64_t kc, int64_t count, const T* x,
                    int64_t x_stride, int rows, T* acc, int64_t acc_stride);

/// acc[j] += sum over k < kc of a[a_offsets[k] + j] * b[b_offsets[k] + j] for j < count.
template <class T, class W>
void AccumulateProducts(const W* a, const int64_t* a_offsets, const W* b, const int64_t* b_offsets,
                        int64_t kc, int64_t count, T* acc);

}  // namespace hlo
