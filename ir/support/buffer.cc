#include "ir/support/buffer.h"

#include <sys/mman.h>

#include <bit>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace hlo {
namespace {

[[maybe_unused]] constexpr size_t kLarge = size_t{1} << 20;  // smaller blocks are the heap's business
constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kCacheLimit = size_t{1} << 30;  // bytes kept for reuse

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define HLO_PLAIN_BUFFERS 1
#endif
#endif

bool IsLarge(size_t bytes) {
#ifdef HLO_PLAIN_BUFFERS
  return false && bytes != 0;
#else
  return bytes >= kLarge;
#endif
}

/// Sizes of large blocks: eight per power of two, so that slightly different arrays share blocks.
size_t RoundToClass(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

class BlockCache {
 public:
  void* Take(size_t size) {
    {
      const std::lock_guard lock(mutex_);
      const auto it = free_.find(size);
      if (it != free_.end() && !it->second.empty()) {
        void* block = it->second.back();
        it->second.pop_back();
        cached_ -= size;
        return block;
      }
    }
    const size_t alignment = size >= kHugePage ? kHugePage : 4096;
    void* block = ::operator new(size, std::align_val_t(alignment));
    if (size >= kHugePage) madvise(block, size, MADV_HUGEPAGE);
    return block;
  }

  void Give(void* block, size_t size) {
    std::vector<std::pair<void*, size_t>> released;
    {
      const std::lock_guard lock(mutex_);
      if (size <= kCacheLimit / 2) {
        free_[size].push_back(block);
        cached_ += size;
      } else {
        released.emplace_back(block, size);
      }
      // Make room by giving up the largest blocks.
      for (auto it = free_.end(); cached_ > kCacheLimit && it != free_.begin();) {
        --it;
        for (; cached_ > kCacheLimit && !it->second.empty(); it->second.pop_back()) {
          released.emplace_back(it->second.back(), it->first);
          cached_ -= it->first;
        }
      }
    }
    for (const auto& [p, bytes] : released)
      ::operator delete(p, std::align_val_t(bytes >= kHugePage ? kHugePage : 4096));
  }

 private:
  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> free_;
  size_t cached_ = 0;
};

BlockCache& Cache() {
  static auto* cache = new BlockCache;  // never destroyed: literals may outlive static objects
  return *cache;
}

}  // namespace

void* internal::TakeBlock(size_t bytes) {
  if (IsLarge(bytes)) return Cache().Take(RoundToClass(bytes));
  return ::operator new(bytes == 0 ? 1 : bytes, std::align_val_t(64));
}

void BufferDeleter::operator()(void* p) const {
  if (IsLarge(bytes)) return Cache().Give(p, RoundToClass(bytes));
  ::operator delete(p, std::align_val_t(64));
}

std::shared_ptr<void> AllocateBuffer(size_t bytes) { return {internal::TakeBlock(bytes), BufferDeleter{bytes}}; }

}  // namespace hlo
