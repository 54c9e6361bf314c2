// What a kernel did wrong.
#pragma once
#include <cstdint>
#include <string>

namespace hlo::gpu {

enum class FaultKind : uint8_t {
  None,
  OutOfBounds,  // no allocation, window or parameter there
  Freed,        // memory that was given back
  Misaligned,
  Unwritten,         // a read of bytes that nobody wrote
  ReadOnly,          // a store to constant memory or parameters
  SharedRace,        // between threads of a block, no barrier in between
  GlobalRace,        // between threads of a block or between blocks
  StreamRace,        // with work of another stream
  DivergentBarrier,  // threads that wait for others which never come
  Aligned,           // a warp instruction without all its lanes
  Trap,
  Condition,   // set for a graph that is not being done
  Barrier,     // a barrier's number or count
  Stack,       // local memory is used up
  Interrupted  // the process was asked to stop
};

struct Fault {
  FaultKind kind = FaultKind::None;
  std::string text;
  explicit operator bool() const { return kind != FaultKind::None; }
};

}  // namespace hlo::gpu
