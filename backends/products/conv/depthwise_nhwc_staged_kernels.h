// Windows over features that are neighbours, each with weights of its own: lanes are features.
#pragma once
#include <cstdint>
#include <optional>

#include "ir/types.h"

namespace hlo::gemm {

/// How elements are stored that are summed in float.
enum class LaneType : uint8_t { F32, Bf16, F16, F8E4M3Fn, F8E5M2 };
std::optional<LaneType> LaneTypeOf(ElementType type);

inline constexpr int64_t kFeatureLanes = 16;

/// Between elements and vectors of kFeatureLanes floats, one for each of `count` positions; `step` is what
/// lies between positions in an array, in bytes.
struct LaneCodes {
  /// Lane l is element lanes[l] of those that `mask` tells to be there.
  void (*load)(const uint8_t* in, int64_t step, int64_t count, uint32_t mask, const int32_t* lanes,
               float* to);
  /// `used` elements of each.
  void (*store)(const float* from, int64_t count, int64_t used, uint8_t* out, int64_t step);
};
/// The processor must have AVX512.
const LaneCodes& LaneCodesFor(LaneType type);

/// Vector i of the sums, which begins at sums[i * sums_step], is the sum over taps t of vector i * step +
/// offsets[t] of `in` times vector t of the weights, for i < count; steps and offsets count floats. Taps are
/// whole lines of `line_taps`, each of which lies a step after the one before.
struct LaneWindows {
  const float* in;
  int64_t step;
  const int64_t* offsets;
  int64_t taps, line_taps;
  const float* weights;
  int64_t count;
  float* sums;
  int64_t sums_step = kFeatureLanes;
};
/// The processor must have AVX512.
void AddLaneWindows(const LaneWindows& args);

}  // namespace hlo::gemm
