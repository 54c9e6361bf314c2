// Windows over planes of one feature, whose lines are read where they lie.
#pragma once
#include <cstdint>

namespace hlo::gemm {

/// How elements are stored, and summed: floats in floats, which are the results or, of Bf16, rounded to them;
/// bytes and halves in 16-bit integers, of which results of bytes keep the lower half.
enum class PlaneKind : uint8_t { F32, Bf16ToF32, Bf16, F16, Byte, Half };
inline constexpr int kPlaneKinds = 6;

/// A plane of results: element j of line l is the sum over lines i of its window, then taps k, of weights[i *
/// taps + k] * element base + j * step + k * per_tap of line i; zeros beyond its ends.
struct PlaneArgs {
  const uint8_t* in;
  /// Where lines of windows begin, in bytes, by line of the result and in it; negative: at `zeros`.
  const int64_t* offsets;
  const uint8_t* zeros;
  int64_t window_lines;
  int64_t taps, base, per_tap;
  /// Of vector v and tap k at [v * taps + k]: which of the elements from the first one on that it reads are
  /// there.
  const uint64_t* masks;
  int64_t inner_begin, inner_end;  // vectors that find all elements for every tap
  const void* weights;             // float, or uint16_t of integers
  int64_t lines, outputs;
  void* out;                   // float, uint8_t or uint16_t
  const int64_t* out_offsets;  // of lines
};

inline constexpr int64_t kMostPlaneTaps = 32;

struct PlaneKernel {
  int lanes;  // results of a vector
  /// Writes nothing but the results.
  void (*run)(const PlaneArgs& args);
};

/// Steps of 1 and 2. The processor must have AVX512.
const PlaneKernel& PlaneKernelFor(PlaneKind kind, int64_t step);

/// Lines that meet, in bytes from where planes begin.
struct PlaneLines {
  int64_t left, right;
};
inline constexpr int64_t kPlaneShifts = 3, kGradientLanes = 32, kGradientSums = 8;

/// Products of lines of planes of bytes, added to kGradientSums integers for each of three shifts of the left
/// one: element base + j + shift of it meets element j of the right one. Their lower bytes hold whatever the
/// signs are.
struct PlaneGradientArgs {
  const uint8_t *left, *right;
  const PlaneLines* lines;
  size_t line_count;
  int64_t base, vectors;  // of kGradientLanes
  /// Of vector v at [v * (kPlaneShifts + 1)]: which of the elements are there for each shift, and on the
  /// right.
  const uint32_t* masks;
  uint32_t* sums;
};
/// The processor must have AVX512-VNNI.
void AddGradientLines(const PlaneGradientArgs& args);

}  // namespace hlo::gemm
