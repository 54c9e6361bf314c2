#include "ir/support/buffer.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "ir/support/buffer_fill.h"

namespace hlo {
namespace {

[[maybe_unused]] constexpr size_t kLarge = size_t{1} << 15;  // smaller blocks are the heap's business
constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kShared = kHugePage / 2;  // up to this size blocks share huge pages

/// Bytes kept for reuse: a quarter of the memory.
size_t CacheLimit() {
  static const size_t limit =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 4;
  return limit;
}

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

/// Sizes of large blocks: eight per power of two, so that slightly different arrays share blocks, and whole huge
/// pages, as to fill one takes the time of 30 small ones.
size_t RoundToClass(size_t bytes) {
  size_t step = std::bit_floor(bytes) / 8;
  if (bytes > kShared) step = std::max(step, kHugePage);
  return (bytes + step - 1) / step * step;
}

/// Fresh memory in huge pages.
void* NewPages(size_t size) {
  void* block = ::operator new(size, std::align_val_t(kHugePage));
  madvise(block, size, MADV_HUGEPAGE);
  return block;
}

/// Address space has a limit: memory that is reserved for later counts.
bool AddressSpaceIsLimited() {
  rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

class BlockCache {
 public:
  /// A block of `size` bytes or, from the cache, up to a quarter more.
  internal::Block Take(size_t size) {
    {
      const std::lock_guard lock(mutex_);
      for (auto it = free_.lower_bound(size); it != free_.end() && it->first <= size + size / 4; ++it) {
        if (it->second.empty()) continue;
        const internal::Block block{it->second.back(), it->first};
        it->second.pop_back();
        cached_ -= block.bytes;
        return block;
      }
      if (void* part = size <= kShared ? TakePart(size) : nullptr) return {part, size};
    }
    return {size <= kShared ? ::operator new(size, std::align_val_t(kAlignment)) : NewPages(size), size};
  }

  void Give(void* block, size_t size) {
    std::vector<std::pair<void*, size_t>> released;
    {
      const std::lock_guard lock(mutex_);
      // Parts of shared pages stay; blocks of the heap go back to it.
      const bool keep = size <= kShared ? IsPart(block) : size <= CacheLimit() / 2;
      if (keep) {
        free_[size].push_back(block);
        cached_ += size;
      } else {
        released.emplace_back(block, size);
      }
      // Make room by giving up the largest blocks.
      for (auto it = free_.end(); cached_ > CacheLimit() && it != free_.begin();) {
        --it;
        if (it->first <= kShared) break;
        for (; cached_ > CacheLimit() && !it->second.empty(); it->second.pop_back()) {
          released.emplace_back(it->second.back(), it->first);
          cached_ -= it->first;
        }
      }
    }
    for (const auto& [p, bytes] : released)
      ::operator delete(p, std::align_val_t(bytes <= kShared ? kAlignment : kHugePage));
  }

 private:
  static constexpr size_t kAlignment = 64;
  /// What is shared stays: this bounds it.
  static constexpr size_t kMostPages = 16;

  /// The next bytes of a shared huge page; null if there had better be none, or none is left.
  void* TakePart(size_t size) {
    for (size_t i = 0; i < page_count_; ++i)
      if (size <= pages_[i].left) return CutPart(pages_[i], size);
    if (page_count_ == kMostPages || AddressSpaceIsLimited()) return nullptr;
    pages_[page_count_] = {static_cast<char*>(NewPages(kHugePage)), kHugePage};
    return CutPart(pages_[page_count_++], size);
  }

  struct Page {
    char* begin;
    size_t left;
  };
  static void* CutPart(Page& page, size_t size) {
    void* part = page.begin + (kHugePage - page.left);
    page.left -= size;
    return part;
  }

  bool IsPart(const void* block) const {
    const auto* at = static_cast<const char*>(block);
    return std::any_of(pages_, pages_ + page_count_,
                       [at](const Page& page) { return at >= page.begin && at < page.begin + kHugePage; });
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> free_;
  size_t cached_ = 0;
  Page pages_[kMostPages];
  size_t page_count_ = 0;
};

BlockCache& Cache() {
  static auto* cache = new BlockCache;  // never destroyed: literals may outlive static objects
  return *cache;
}

std::atomic<int> filling{-1};  // -1: none

internal::Block NewBlock(size_t bytes) {
  if (IsLarge(bytes)) return Cache().Take(RoundToClass(bytes));
  return {::operator new(bytes == 0 ? 1 : bytes, std::align_val_t(64)), bytes};
}

}  // namespace

BufferFill::BufferFill(uint8_t byte) { filling = byte; }
BufferFill::~BufferFill() { filling = -1; }

internal::Block internal::TakeBlock(size_t bytes) {
  const Block block = NewBlock(bytes);
  if (const int byte = filling.load(std::memory_order_relaxed); byte >= 0) [[unlikely]]
    std::memset(block.data, byte, block.bytes);
  return block;
}

void BufferDeleter::operator()(void* p) const {
  if (IsLarge(bytes)) return Cache().Give(p, bytes);
  ::operator delete(p, std::align_val_t(64));
}

std::shared_ptr<void> AllocateBuffer(size_t bytes) {
  const internal::Block block = internal::TakeBlock(bytes);
  return {block.data, BufferDeleter{block.bytes}};
}

}  // namespace hlo
