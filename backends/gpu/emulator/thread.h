// What generated code and the emulator know of a thread of the device.
#pragma once
#include <cstdint>

#include "backends/gpu/emulator/fiber.h"
#include "backends/gpu/ptx/module.h"

namespace hlo::gpu {

class Block;

/// Where generic addresses of shared, local and parameter memory begin: no address of device memory, so that
/// an offset that was taken for a generic address lies nowhere.
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 62;
inline constexpr uint64_t kLocalWindow = kSharedWindow + (uint64_t{1} << 40);
inline constexpr uint64_t kParamWindow = kSharedWindow + (uint64_t{2} << 40);
inline constexpr uint64_t kWindowSize = uint64_t{1} << 40;
/// Per thread (ptx.md §3.1).
inline constexpr uint64_t kLocalBytes = 512 << 10;

inline constexpr size_t kNumSpecials = static_cast<size_t>(ptx::Special::WarpSize) + 1;

/// An instruction of a kernel that the emulator is called for.
struct Site {
  enum class Access : uint8_t { None, Load, Store, Atomic };
  const ptx::Instruction* inst = nullptr;
  const ptx::Function* function = nullptr;
  ptx::Space space = ptx::Space::Generic;
  Access access = Access::None;
  bool strong = false;     // volatile, relaxed, …: races with no other strong access
  bool read_only = false;  // .nc
  uint32_t bytes = 0;      // of an access, which is aligned to it
  uint32_t number = 0;     // of the site within the code
};

/// The first members are read by code, at these offsets.
struct Thread {
  uint64_t special[kNumSpecials] = {};
  uint8_t* params = nullptr;
  uint64_t local_top = 0;                               // bytes of local memory that callers use
  uint8_t *shared = nullptr, *shared_states = nullptr;  // of the block: contents, and what is known of them
  uint64_t shared_bytes = 0;

  enum class State : uint8_t { Ready, Waiting, Exited };
  State state = State::Exited;
  bool started = false;
  uint32_t linear = 0, lane = 0, warp = 0;
  Block* block = nullptr;
  const Site* site = nullptr;     // where it waits, or was last
  uint64_t* arguments = nullptr;  // of what it waits for
  Fiber fiber;
  uint8_t* stack = nullptr;
};

}  // namespace hlo::gpu
