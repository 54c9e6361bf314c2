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
#include <utility>
#include <vector>

#include "ir/support/buffer_fill.h"

namespace hlo {
namespace {

constexpr size_t kAlignment = 64;
[[maybe_unused]] constexpr size_t kLarge = size_t{1} << 15;  // smaller blocks are the heap's business
constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kShared = kHugePage / 2;      // up to this size blocks share areas of 2 MiB
constexpr size_t kHugeFrom = size_t{1} << 19;  // below it small pages are there sooner than a huge one

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

/// Sizes of blocks: eight per power of two, so that slightly different arrays share blocks, and whole huge
/// pages, as to get one takes the time of a hundred small ones.
size_t RoundToClass(size_t bytes) {
  size_t step = std::max(std::bit_floor(bytes) / 8, kAlignment);
  if (bytes > kShared) step = std::max(step, kHugePage);
  return (bytes + step - 1) / step * step;
}

/// Fresh memory for whole huge pages, to be filled with such or with small ones.
void* NewPages(size_t size, bool huge = true) {
  void* block = ::operator new(size, std::align_val_t(kHugePage));
  if (huge) madvise(block, size, MADV_HUGEPAGE);
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
        if (Area* area = AreaOf(block.data)) ++area->taken;
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
      // Parts of shared areas stay; blocks of the heap go back to it.
      Area* const area = size <= kShared ? AreaOf(block) : nullptr;
      if (area != nullptr) --area->taken;
      if (area != nullptr || (size > kShared && size <= CacheLimit() / 2)) {
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
  /// What is shared stays: this bounds it.
  static constexpr size_t kMostAreas = 16;

  struct Area {
    char* begin;
    bool huge;
    size_t left;
    int taken;  // parts
  };

  /// The next bytes of a shared area; null if there had better be none, or none is left.
  void* TakePart(size_t size) {
    const bool huge = size >= kHugeFrom;
    const llvm::MutableArrayRef<Area> areas(areas_, area_count_);
    for (Area& area : areas)
      if (size <= area.left && area.huge == huge) return CutPart(area, size);
    for (Area& area : areas) {
      if (area.taken > 0 || area.huge != huge) continue;
      Clear(area);
      return CutPart(area, size);
    }
    if (area_count_ == kMostAreas || AddressSpaceIsLimited()) return nullptr;
    areas_[area_count_] = {static_cast<char*>(NewPages(kHugePage, huge)), huge, kHugePage, 0};
    return CutPart(areas_[area_count_++], size);
  }

  static void* CutPart(Area& area, size_t size) {
    void* part = area.begin + (kHugePage - area.left);
    area.left -= size;
    ++area.taken;
    return part;
  }

  /// Joins the parts of an area, all of them free.
  void Clear(Area& area) {
    for (auto& [size, blocks] : free_) {
      if (size > kShared) break;
      cached_ -= size * llvm::count_if(blocks, [&](void* block) { return AreaOf(block) == &area; });
      llvm::erase_if(blocks, [&](void* block) { return AreaOf(block) == &area; });
    }
    area.left = kHugePage;
  }

  Area* AreaOf(const void* block) {
    const auto* at = static_cast<const char*>(block);
    for (Area& area : llvm::MutableArrayRef(areas_, area_count_))
      if (at >= area.begin && at < area.begin + kHugePage) return &area;
    return nullptr;
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> free_;
  size_t cached_ = 0;
  Area areas_[kMostAreas];
  size_t area_count_ = 0;
};

[[maybe_unused]] BlockCache& Cache() {  // not with plain buffers
  static auto* cache = new BlockCache;  // never destroyed: literals may outlive static objects
  return *cache;
}

/// A few blocks of each small size that this thread has given back: a call of a small program takes and gives
/// some, and the heap needs ten times as long for aligned ones.
class SmallBlocks {
 public:
  constexpr SmallBlocks() = default;
  ~SmallBlocks() {
    closed = true;
    for (void*& list : classes_)
      while (void* block = Pop(list)) ::operator delete(block, std::align_val_t(kAlignment));
  }
  SmallBlocks(const SmallBlocks&) = delete;
  SmallBlocks& operator=(const SmallBlocks&) = delete;

  /// Of a size that RoundToClass() gives.
  static void* Take(size_t size) {
    void* block = closed ? nullptr : Pop(OfThread().ClassOf(size));
    return block != nullptr ? block : ::operator new(size, std::align_val_t(kAlignment));
  }
  static void Give(void* block, size_t size) {
    if (!closed)
      if (void*& list = OfThread().ClassOf(size); list == nullptr || Next(list) == nullptr) {
        Next(block) = std::exchange(list, block);
        return;
      }
    ::operator delete(block, std::align_val_t(kAlignment));
  }

 private:
  /// Each block begins with a pointer to the next. Two at most are kept: with all sizes no more than 300 KiB
  /// for a thread. That alone tells how many there are: a shared library has few thread-local bytes.
  static void*& Next(void* block) { return *static_cast<void**>(block); }

  static SmallBlocks& OfThread() {
    thread_local constinit SmallBlocks blocks;
    return blocks;
  }
  static void* Pop(void*& list) { return list == nullptr ? nullptr : std::exchange(list, Next(list)); }
  /// Multiples of 64 to 512, then eight for each power of two.
  void*& ClassOf(size_t size) {
    const auto power = static_cast<size_t>(std::bit_width(size | 512)) - 10;
    const size_t step = kAlignment << power;
    return classes_[power * 8 + size / step];
  }

  static thread_local constinit bool closed;  // the thread is at its end
  void* classes_[8 * 6 + 16] = {};
};
thread_local constinit bool SmallBlocks::closed = false;

std::atomic<int> filling{-1};  // -1: none

internal::Block NewBlock(size_t bytes) {
#ifdef HLO_PLAIN_BUFFERS
  return {::operator new(bytes == 0 ? 1 : bytes, std::align_val_t(kAlignment)), bytes};
#else
  const size_t size = RoundToClass(std::max<size_t>(bytes, 1));
  if (IsLarge(size)) return Cache().Take(size);
  return {SmallBlocks::Take(size), size};
#endif
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

bool internal::IsKept(size_t bytes) {
  return IsLarge(bytes) && RoundToClass(bytes) > kShared && RoundToClass(bytes) <= CacheLimit() / 2 &&
         !AddressSpaceIsLimited();
}

void BufferDeleter::operator()(void* p) const {
#ifdef HLO_PLAIN_BUFFERS
  ::operator delete(p, std::align_val_t(kAlignment));
#else
  IsLarge(bytes) ? Cache().Give(p, bytes) : SmallBlocks::Give(p, bytes);
#endif
}

std::shared_ptr<void> AllocateBuffer(size_t bytes) {
  const internal::Block block = internal::TakeBlock(bytes);
  return {block.data, BufferDeleter{block.bytes}};
}

}  // namespace hlo
