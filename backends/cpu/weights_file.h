// The form of files of constants that belong to an object (hlo-opt --aot-weights).
#pragma once
#include <cstdint>

namespace hlo::cpu {

/// What the file begins with; constants follow, at multiples of 64 bytes.
struct WeightsHead {
  char magic[16];  // kWeightsMagic
  uint64_t bytes;  // of the file
  uint64_t hash;   // of what follows
  uint8_t rest[32];
};
static_assert(sizeof(WeightsHead) == 64);
inline constexpr char kWeightsMagic[16] = "hlo.weights/1\n";

}  // namespace hlo::cpu
