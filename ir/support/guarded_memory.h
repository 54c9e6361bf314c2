// Memory for code of others, between zones that show when it writes beyond.
#pragma once
#include <cstdint>

#include "ir/support/buffer.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Whether this is a build that checks itself, or the environment has HLO_CHECKED.
bool ChecksItself();

/// Blocks of bytes, zero at first, that lie one after the other; with zones each of them between two zones
/// that nobody may read or write. Check() and the destructor look at the zones and end the program if they
/// have changed.
class GuardedMemory {
 public:
  static constexpr size_t kZone = 256;
  GuardedMemory() = default;
  /// `user` writes to the memory, is named if it writes beyond, and outlives this.
  GuardedMemory(llvm::StringRef user, size_t bytes, size_t blocks = 1, bool zones = ChecksItself());
  GuardedMemory(GuardedMemory&& other) noexcept { Swap(other); }
  GuardedMemory& operator=(GuardedMemory&& other) noexcept {
    Swap(other);
    return *this;
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  [[nodiscard]] uint8_t* block(size_t i) const { return memory_.get() + zone_ + i * stride_; }
  [[nodiscard]] size_t block_bytes() const { return bytes_; }
  [[nodiscard]] size_t blocks() const { return blocks_; }
  /// No zones: the blocks are one array.
  [[nodiscard]] bool contiguous() const { return zone_ == 0; }
  void Check() const;

 private:
  void Swap(GuardedMemory& other) noexcept;
  /// The zone before block i; that behind the last one has the number blocks().
  [[nodiscard]] llvm::ArrayRef<uint8_t> Zone(size_t i) const;
  void CheckZone(size_t i) const;

  llvm::StringRef user_;
  size_t bytes_ = 0, blocks_ = 0;
  size_t zone_ = 0, stride_ = 0;  // bytes before the first block; from one to the next
  Buffer<uint8_t> memory_;
};

/// An array of numbers in such memory.
template <class T>
class GuardedArray {
 public:
  GuardedArray(llvm::StringRef user, size_t count) : memory_(user, count * sizeof(T)) {}
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(memory_.block(0)); }
  [[nodiscard]] T& operator[](size_t i) const { return data()[i]; }
  [[nodiscard]] size_t size() const { return memory_.block_bytes() / sizeof(T); }

 private:
  GuardedMemory memory_;
};

}  // namespace hlo
