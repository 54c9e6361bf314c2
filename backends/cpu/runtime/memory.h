// Where the loops get memory from: the heap while a program is made ready, the caller's temporary memory
// after.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/products/common/scratch.h"

namespace hlo::runtime {

inline constexpr size_t kUnit = 64;  // bytes; blocks begin at its multiples
constexpr size_t InUnits(size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

/// Blocks of a piece of memory, all multiples of 64 bytes; what is given back is taken again. For one thread.
class Arena {
 public:
  void Reset(uint8_t* begin, uint8_t* end);
  /// Null: no room is left.
  void* Take(size_t bytes);
  /// Never given back, and no part of the Peak(). Null likewise.
  uint8_t* TakeForGood(size_t bytes);
  /// Bytes of a block that Take() gave, of whichever arena.
  static size_t BytesOf(const void* block);
  /// A block of another arena is not taken again.
  void Give(void* block);
  /// How far it was ever filled, in bytes.
  [[nodiscard]] size_t Peak() const { return static_cast<size_t>(peak_ - begin_); }

  struct Mark {
    uint8_t* at;
    size_t blocks;
  };
  [[nodiscard]] Mark Here() const { return {at_, blocks_}; }
  /// If all that was taken since then is given back, room for blocks of any size.
  void ReturnTo(const Mark& mark);

 private:
  /// Eight sizes for each power of two.
  static constexpr size_t kClasses = size_t{8} * 40;
  uint8_t *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr, *peak_ = nullptr;
  size_t blocks_ = 0;     // that are taken
  void* free_[kClasses];  // by size; each block begins with a pointer to the next
};

/// Memory that is kept from use to use (gemm::Scratch).
struct KeptScratch {
  uint8_t* data = nullptr;
  int64_t bytes = 0;
};

inline constexpr auto kScratchUses = static_cast<size_t>(gemm::ScratchUse::Count);

/// Bytes of a part, or that it needs.
struct PartSize {
  size_t arena = 0, kept[kScratchUses] = {};
  [[nodiscard]] size_t Bytes() const;
  /// As much as both need.
  void Raise(const PartSize& other);
};

/// What one thread has of a call's memory.
struct Part {
  Arena arena;
  KeptScratch kept[kScratchUses];
  bool begun;  // there is something in it

  /// With nothing in it, in size.Bytes() from `first` on.
  void Begin(uint8_t* first, const PartSize& size);
  /// How far it was filled.
  [[nodiscard]] PartSize Peak() const;
};

/// What the calling thread takes memory from instead of the heap; null: nothing.
struct Memory {
  Part* part = nullptr;
  uint8_t *begin = nullptr, *end = nullptr;  // of all parts of the call
};
extern thread_local constinit Memory thread_memory;

/// While it lives, this thread takes memory from there.
class MemoryScope {
 public:
  explicit MemoryScope(const Memory& now) : before_(thread_memory) { thread_memory = now; }
  ~MemoryScope() { thread_memory = before_; }
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  Memory before_;
};

}  // namespace hlo::runtime
