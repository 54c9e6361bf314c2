// Counting references to shared immutable values.
#pragma once
#include <atomic>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace hlo {

/// Base of a value that llvm::IntrusiveRefCntPtr<const Derived> shares, also between threads. Counting takes
/// atomic operations only once the process has more than one thread: readers, which have one, copy a lot.
template <class Derived>
class RefCounted {
 public:
  void Retain() const {
    if (IsOnlyThread())
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    else
      count_.fetch_add(1, std::memory_order_relaxed);
  }
  void Release() const {
    if (IsOnlyThread()) {
      const int left = count_.load(std::memory_order_relaxed) - 1;
      count_.store(left, std::memory_order_relaxed);
      if (left != 0) return;
    } else if (count_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
      return;
    }
    delete static_cast<const Derived*>(this);
  }

 protected:
  RefCounted() = default;
  RefCounted(const RefCounted&) {}
  RefCounted& operator=(const RefCounted&) { return *this; }
  ~RefCounted() = default;

 private:
  static bool IsOnlyThread() {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
  }
  mutable std::atomic<int> count_ = 0;
};

}  // namespace hlo
