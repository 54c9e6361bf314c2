// The form of files of constants that belong to an object (hlo-opt --aot-weights).
#pragma once
#include <cstddef>
#include <cstdint>

namespace hlo::cpu {

/// Constants begin at its multiples. Bytes.
inline constexpr size_t kWeightsAlignment = 64;

/// What the file begins with; constants follow.
struct WeightsHead {
  char magic[16];  // kWeightsMagic
  uint64_t bytes;  // of the file
  uint64_t hash;   // of what follows
  uint8_t rest[32];
};
static_assert(sizeof(WeightsHead) == kWeightsAlignment);
inline constexpr char kWeightsMagic[16] = "hlo.weights/1\n";

}  // namespace hlo::cpu
