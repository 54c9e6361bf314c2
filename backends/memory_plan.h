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
  int64_t device_memory = 0;     // what each device has of its own; 0: devices are part of the machine
  int64_t live_temporaries = 0;  // most bytes of temporaries in use at one time
  const Instruction* peak_at = nullptr;
  int64_t peak_time = 0, length = 0;  // of the schedule
  std::vector<Value> values;          // largest first

  /// Arguments, constants, results and temporaries.
  [[nodiscard]] int64_t peak() const { return arguments + constants + results - aliased + temporaries; }
};

const Shape& ShapeOf(const MemoryPlan::Value& value);
/// `%name`, with the index of a part.
std::string NameOf(const MemoryPlan::Value& value);

/// Whether all arrays together have so many bytes that memory could end; small modules need no plan.
bool HasManyBytes(const Module& module);
/// Bytes of memory that the machine has.
int64_t MachineMemory();
/// Error limit-memory if so many bytes exceed the limit (0: none), runtime-memory if the machine's memory.
Status CheckMemory(int64_t bytes, int64_t limit, llvm::StringRef what);

/// The largest buffers, a line each, after `prefix`: `29.8 GiB of result %fusion f32[2000000000,4]`.
std::string LargestBuffers(const MemoryPlan& plan, llvm::StringRef prefix);

/// Error limit-memory if `devices` such programs exceed `limit` (0: none), runtime-memory if they exceed the
/// machine, or one of them its device, with notes about the largest buffers.
Status CheckMemoryPlan(const MemoryPlan& plan, int64_t devices, int64_t limit);

}  // namespace hlo
