// Global memory of the emulated device: allocations, and what is known of each byte.
#pragma once
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "backends/gpu/emulator/fault.h"

namespace hlo::gpu {

/// Memory of the host that is there when it is touched.
class LazyMemory {
 public:
  LazyMemory() = default;
  LazyMemory(const LazyMemory&) = delete;
  LazyMemory& operator=(const LazyMemory&) = delete;
  ~LazyMemory();
  /// False: the host has no room for it.
  bool Map(uint64_t bytes);
  /// Forgets contents: zero again.
  void Clear(uint64_t begin, uint64_t bytes);
  [[nodiscard]] uint8_t* data() const { return data_; }
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

/// Addresses are those of the host. What was freed is used again only when nothing else is left.
class DeviceMemory {
 public:
  /// Copied: of shared memory, that an asynchronous copy is on its way to.
  enum State : uint8_t { Free = 0, Unwritten = 1, Written = 2, Freed = 3, Copied = 4 };
  static constexpr uint64_t kAlignment = 256;

  /// False: the host has no room for a device of this much memory.
  bool Create(uint64_t bytes);
  /// Nothing: there is no memory left.
  std::optional<uint64_t> Allocate(uint64_t bytes);
  /// False: nothing begins there.
  bool Release(uint64_t address);
  [[nodiscard]] uint64_t used() const { return used_; }
  [[nodiscard]] uint64_t size() const { return memory_.size(); }
  /// The first address, and what is known of its bytes, one State for each.
  [[nodiscard]] uint64_t base() const { return base_; }
  [[nodiscard]] const uint8_t* states() const { return states_.data(); }

  /// Whether the bytes may be read or written; marks written ones.
  FaultKind Check(uint64_t address, uint64_t bytes, bool store) {
    const uint64_t at = address - base_;
    if (at >= memory_.size() || bytes > memory_.size() - at)
      return IsOfHost(address, bytes) ? FaultKind::None : FaultKind::OutOfBounds;
    uint8_t* state = states_.data() + at;
    if (!AllWritten(state, bytes)) {
      for (uint64_t i = 0; i < bytes; ++i)
        if (state[i] != Written && (!store || state[i] != Unwritten)) return Explain(state[i]);
      std::memset(state, Written, bytes);
    }
    return FaultKind::None;
  }
  /// Memory of the host that kernels may touch by its address.
  void MapHost(uint64_t address, uint64_t bytes) { host_[address] = bytes; }
  void UnmapHost(uint64_t address) { host_.erase(address); }
  [[nodiscard]] bool IsOfHost(uint64_t address, uint64_t bytes) const;
  /// Of states.
  static bool AllWritten(const uint8_t* states, uint64_t bytes) {
    constexpr uint64_t kAll = 0x0202020202020202;
    static_assert(Written == 2);
    uint64_t word = 0;
    while (bytes >= 8) {
      std::memcpy(&word, states, 8);
      if (word != kAll) return false;
      states += 8;
      bytes -= 8;
    }
    for (; bytes > 0; --bytes)
      if (*states++ != Written) return false;
    return true;
  }
  /// Marks bytes as written by the host, or by nobody.
  void SetWritten(uint64_t address, uint64_t bytes, bool written);
  /// Bytes of an allocation that nobody has written.
  [[nodiscard]] uint64_t CountUnwritten(uint64_t address, uint64_t bytes) const;
  /// What is known of bytes that are copied.
  void CopyStates(uint64_t to, uint64_t from, uint64_t bytes);
  /// Whether all of the bytes are part of one allocation.
  [[nodiscard]] bool IsAllocated(uint64_t address, uint64_t bytes) const;
  [[nodiscard]] uint64_t OffsetOf(uint64_t address) const { return address - base_; }
  /// "4 bytes beyond the 64 bytes at 0x…".
  [[nodiscard]] std::string Describe(uint64_t address) const;
  /// Begin and size of the allocation that holds the address.
  [[nodiscard]] std::optional<std::pair<uint64_t, uint64_t>> Find(uint64_t address) const;

 private:
  static FaultKind Explain(uint8_t state);
  struct Allocation {
    uint64_t bytes;
    bool freed;
  };
  uint64_t base_ = 0;
  uint64_t next_ = 0;  // offset
  uint64_t used_ = 0;
  LazyMemory memory_, states_;
  std::map<uint64_t, Allocation> allocations_;  // by offset
  std::map<uint64_t, uint64_t> host_;           // bytes, by address
};

}  // namespace hlo::gpu
