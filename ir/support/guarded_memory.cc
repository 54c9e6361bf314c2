#include "ir/support/guarded_memory.h"

#include <cstdlib>
#include <cstring>

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
// Our own loops do not even read there.
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(begin, bytes)   ((void)(begin), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#endif

namespace hlo {
namespace {

constexpr uint8_t kUntouched = 0xa5;
constexpr size_t kAlignment = 64;

}  // namespace

bool ChecksItself() {
#ifdef NDEBUG
  return std::getenv("HLO_CHECKED") != nullptr;
#else
  return true;
#endif
}

GuardedMemory::GuardedMemory(llvm::StringRef user, size_t bytes, size_t blocks, bool zones)
    : user_(user), bytes_(bytes), blocks_(blocks), stride_(bytes) {
  if (zones) {
    zone_ = kZone;
    stride_ = (bytes + kAlignment - 1) / kAlignment * kAlignment + kZone;
  }
  const size_t all = zone_ + blocks * stride_;
  memory_ = MakeBuffer<uint8_t>(all);
  if (all > 0) std::memset(memory_.get(), 0, all);
  for (size_t i = 0; zones && i <= blocks_; ++i) {
    const llvm::ArrayRef<uint8_t> zone = Zone(i);
    std::memset(const_cast<uint8_t*>(zone.data()), kUntouched, zone.size());
    ASAN_POISON_MEMORY_REGION(zone.data(), zone.size());
  }
}

GuardedMemory::~GuardedMemory() {
  Check();
  for (size_t i = 0; zone_ > 0 && i <= blocks_; ++i)
    ASAN_UNPOISON_MEMORY_REGION(Zone(i).data(), Zone(i).size());
}

void GuardedMemory::Swap(GuardedMemory& other) noexcept {
  std::swap(user_, other.user_);
  std::swap(bytes_, other.bytes_);
  std::swap(blocks_, other.blocks_);
  std::swap(zone_, other.zone_);
  std::swap(stride_, other.stride_);
  std::swap(memory_, other.memory_);
}

llvm::ArrayRef<uint8_t> GuardedMemory::Zone(size_t i) const {
  const uint8_t* begin = i == 0 ? memory_.get() : block(i - 1) + bytes_;
  return {begin, i == 0 ? kZone : stride_ - bytes_};
}

void GuardedMemory::CheckZone(size_t i) const {
  const llvm::ArrayRef<uint8_t> zone = Zone(i);
  ASAN_UNPOISON_MEMORY_REGION(zone.data(), zone.size());
  for (size_t at = 0; at < zone.size(); ++at)
    if (zone[at] != kUntouched)
      llvm::report_fatal_error(
          llvm::formatv("{0} wrote beyond its memory: {1} bytes {2} block {3} of {4}, which has {5} bytes",
                        user_, i == 0 ? kZone - at : at, i == 0 ? "before" : "behind", i == 0 ? 0 : i - 1,
                        blocks_, bytes_)
              .str()
              .c_str());
  ASAN_POISON_MEMORY_REGION(zone.data(), zone.size());
}

void GuardedMemory::Check() const {
  for (size_t i = 0; zone_ > 0 && i <= blocks_; ++i) CheckZone(i);
}

}  // namespace hlo
