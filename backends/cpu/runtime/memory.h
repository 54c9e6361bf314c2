// Where the loops get memory from: the heap while a program is made ready, the caller's temporary memory
// after.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/products/common/scratch.h"

namespace hlo::runtime {

/// Blocks of a piece of memory, all multiples of 64 bytes; what is given back is taken again. For one thread.
class Arena {
 public:
  void Reset(uint8_t* begin, uint8_t* end);
  /// Null: no room is left.
  void* Take(size_t bytes);
  /// Bytes of a block that Take() gave, of whichever arena.
  static size_t BytesOf(const void* block);
  void Give(void* block);
  /// How far it was ever filled, in bytes.
  [[nodiscard]] size_t Peak() const { return static_cast<size_t>(peak_ - begin_); }

 private:
  /// Eight sizes for each power of two.
  static constexpr size_t kClasses = size_t{8} * 40;
  uint8_t *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr, *peak_ = nullptr;
  void* free_[kClasses];  // by size; each block begins with a pointer to the next
};

/// Memory that is kept from use to use (gemm::Scratch).
struct KeptScratch {
  uint8_t* data = nullptr;
  int64_t bytes = 0;
};

/// What one thread has of a call's memory.
struct Part {
  Arena arena;
  KeptScratch kept[static_cast<size_t>(gemm::ScratchUse::Count)];
  bool begun;  // there is something in it

  /// For another call.
  void Begin(uint8_t* first, uint8_t* last) {
    arena.Reset(first, last);
    for (KeptScratch& scratch : kept) scratch = {};
    begun = true;
  }
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
