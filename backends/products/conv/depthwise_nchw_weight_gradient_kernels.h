// Gradients by weights that meet three shifts of lines with three lines at once.
#pragma once
#include <cstdint>

namespace hlo::gemm {

inline constexpr int64_t kGradientShifts = 3, kGradientFloats = 16;

/// Two planes of floats: line t of the right one, of `lines`, meets line first + row + t of the left one, of
/// `height`, for each of up to three rows of results; element j of it element base + shift + j.
struct FloatGradientArgs {
  const float *left, *right;
  int64_t left_stride, right_stride;  // of lines, in elements
  int64_t first, lines, height, base;
  int64_t vectors;  // of a line on the right
  /// Of vector v at [v * (kGradientShifts + 1)]: which of the elements are there for each shift, and on the
  /// right.
  const uint16_t* masks;
  float* sums;  // [rows][kGradientShifts][kGradientFloats], added to
};

/// For 1 to 3 rows of results. The processor must have AVX512F.
void AddFloatGradient(int64_t rows, const FloatGradientArgs& args);

}  // namespace hlo::gemm
