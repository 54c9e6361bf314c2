// The handles of hlo/hlo_c.h.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace hlo_toolkit::internal {

enum class HandleKind : uint8_t { Error, Text, Module, Builder, Client, Executable, Buffer, Run };

/// A value behind a handle, whose memory stays the library's when the handle is freed: who uses it after that
/// gets an error, until so many others of its kind were freed that it becomes a new one (Handles).
template <class T, HandleKind kKind>
class Handle {
 public:
  using Value = T;
  static constexpr HandleKind kThisKind = kKind;
  /// Whether it is one of this kind that was not freed.
  [[nodiscard]] bool IsOpen() const { return mark_.load(std::memory_order_acquire) == kOpen; }
  /// Whether it was one of this kind.
  [[nodiscard]] bool IsFreed() const { return mark_.load(std::memory_order_acquire) == kFreed; }
  /// Of one that is open.
  [[nodiscard]] const T& get() const { return *std::launder(reinterpret_cast<const T*>(bytes_)); }
  [[nodiscard]] T& get() { return *std::launder(reinterpret_cast<T*>(bytes_)); }

 private:
  template <class H>
  friend class Handles;
  // By these a handle is known that a program takes for one of another kind.
  static constexpr uint64_t kFreed = 0x486c6f2d66726565 ^ static_cast<uint64_t>(kKind);
  static constexpr uint64_t kOpen = 0x486c6f2d6f70656e ^ static_cast<uint64_t>(kKind);
  std::atomic<uint64_t> mark_ = kFreed;
  Handle* next_freed_ = nullptr;
  alignas(T) std::byte bytes_[sizeof(T)];
};

/// The handles of a kind that were freed. Threads share it; it never goes, and with it none of them.
template <class H>
class Handles {
 public:
  /// Null without memory.
  static H* New(typename H::Value value) {
    H* handle = TheFreed().TakeOldest();
    if (handle == nullptr) handle = new (std::nothrow) H;
    if (handle == nullptr) return nullptr;
    new (static_cast<void*>(handle->bytes_)) typename H::Value(std::move(value));
    handle->mark_.store(H::kOpen, std::memory_order_release);
    return handle;
  }
  /// Takes null, and one that was freed before.
  static void Free(H* handle) {
    uint64_t open = H::kOpen;
    if (handle == nullptr || !handle->mark_.compare_exchange_strong(open, H::kFreed)) return;
    std::destroy_at(&handle->get());
    TheFreed().Keep(handle);
  }

 private:
  // So many are freed before one of them is used again.
  static constexpr size_t kLeast = 1024;

  static Handles& TheFreed() {
    static auto* const freed = new Handles;
    return *freed;
  }
  H* TakeOldest() {
    const std::lock_guard lock(mutex_);
    if (count_ <= kLeast) return nullptr;
    --count_;
    return std::exchange(oldest_, static_cast<H*>(oldest_->next_freed_));
  }
  void Keep(H* handle) {
    const std::lock_guard lock(mutex_);
    handle->next_freed_ = nullptr;
    if (count_++ == 0)
      oldest_ = handle;
    else
      newest_->next_freed_ = handle;
    newest_ = handle;
  }

  std::mutex mutex_;
  H *oldest_ = nullptr, *newest_ = nullptr;
  size_t count_ = 0;
};

}  // namespace hlo_toolkit::internal
