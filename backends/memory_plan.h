// What a compiled program needs of memory, per device.
#pragma once
#include <string>
#include <vector>

#include "ir/instruction.h"

namespace hlo {

struct MemoryPlan {
  /// An array with a place of its own or a part of a larger one.
  struct Value {
    const Instruction* instruction = nullptr;
    ShapeIndex index;
    const char* kind = "";  // temp, result, argument, constant
    int64_t bytes = 0;
    int64_t begin = 0, end = 0;  // in use: instructions, counted along the schedule
  };
  int64_t arguments = 0, results = 0, temporaries = 0, constants = 0;  // bytes
  int64_t aliased = 0;                                                 // results that lie in arguments
  int64_t live_temporaries = 0;  // most bytes of temporaries in use at one time
  const Instruction* peak_at = nullptr;
  int64_t peak_time = 0, length = 0;  // of the schedule
  std::vector<Value> values;          // largest first

  /// Arguments, constants, results and temporaries.
  [[nodiscard]] int64_t peak() const { return arguments + constants + results - aliased + temporaries; }
};

}  // namespace hlo
