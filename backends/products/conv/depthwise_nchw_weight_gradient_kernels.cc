#include "backends/products/conv/depthwise_nchw_weight_gradient_kernels.h"

#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)

namespace hlo::gemm {
namespace {

template <int Rows>
struct GradientSums {
  __m512 at[Rows][kGradientShifts];
};

/// Lines t to t - Rows + 1 of the right plane beside the line of the left one that line t meets first: at the
/// ends of the planes (`Edge`) those that there are.
template <int Rows, bool Edge>
[[gnu::always_inline]] inline void AddLine(const FloatGradientArgs& args, int64_t v, int64_t t,
                                           __m512 (&right)[Rows], GradientSums<Rows>& sums) {
  const uint16_t* masks = args.masks + v * (kGradientShifts + 1);
  // No loop, which would become a call that keeps them in memory.
  if constexpr (Rows > 2) right[2] = right[1];
  if constexpr (Rows > 1) right[1] = right[0];
  const int64_t at = v * kGradientFloats;
  if (!Edge || t < args.lines)
    right[0] = _mm512_maskz_loadu_ps(masks[kGradientShifts], args.right + t * args.right_stride + at);
  const int64_t line = args.first + t;
  if (line < 0 || line >= args.height) return;
  const float* left = args.left + line * args.left_stride + args.base + at;
#pragma clang loop unroll(full)
  for (int s = 0; s < kGradientShifts; ++s) {
    const __m512 x = _mm512_maskz_loadu_ps(masks[s], left + s);
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r)
      if (!Edge || (t - r >= 0 && t - r < args.lines))
        sums.at[r][s] = _mm512_fmadd_ps(x, right[r], sums.at[r][s]);
  }
}

template <int Rows>
void FloatGradient(const FloatGradientArgs& args) {
  GradientSums<Rows> sums;
  const auto each = [&](auto&& f) {
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows * kGradientShifts; ++i)
      f(sums.at[i / kGradientShifts][i % kGradientShifts], args.sums + i * kGradientFloats);
  };
  each([](__m512& sum, const float* from) { sum = _mm512_loadu_ps(from); });
  for (int64_t v = 0; v < args.vectors; ++v) {
    __m512 right[Rows] = {};
    int64_t t = 0;
    for (; t < Rows - 1; ++t) AddLine<Rows, true>(args, v, t, right, sums);
    for (; t < args.lines; ++t) AddLine<Rows, false>(args, v, t, right, sums);
    for (; t < args.lines + Rows - 1; ++t) AddLine<Rows, true>(args, v, t, right, sums);
  }
  each([](const __m512& sum, float* to) { _mm512_storeu_ps(to, sum); });
}

}  // namespace

void AddFloatGradient(int64_t rows, const FloatGradientArgs& args) {
  constexpr void (*kRows[])(const FloatGradientArgs&) = {&FloatGradient<1>, &FloatGradient<2>,
                                                         &FloatGradient<3>};
  kRows[rows - 1](args);
}

}  // namespace hlo::gemm

#pragma clang attribute pop
