#include "backends/gpu/emulator/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::gpu {

namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

LazyMemory::~LazyMemory() {
  if (data_ != nullptr && size_ < kPage)
    std::free(data_);
  else if (data_ != nullptr)
    ::munmap(data_, size_);
}

bool LazyMemory::Map(uint64_t bytes) {
  // Blocks of most kernels have a few bytes of their own; asking the system for them took longer than the
  // rest.
  if (bytes < kPage) {
    data_ = static_cast<uint8_t*>(std::aligned_alloc(kPage, kPage));
    if (data_ == nullptr) return false;
    std::memset(data_, 0, bytes);
    size_ = bytes;
    return true;
  }
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  data_ = static_cast<uint8_t*>(memory);
  size_ = bytes;
  return true;
}

void LazyMemory::Clear(uint64_t begin, uint64_t bytes) {
  const uint64_t first = llvm::alignTo(begin, kPage), end = begin + bytes;
  if (first + kPage > end) {
    std::memset(data_ + begin, 0, bytes);
    return;
  }
  const uint64_t last = end / kPage * kPage;
  std::memset(data_ + begin, 0, first - begin);
  ::madvise(data_ + first, last - first, MADV_DONTNEED);
  std::memset(data_ + last, 0, end - last);
}

bool DeviceMemory::Create(uint64_t bytes) {
  bytes = llvm::alignTo(std::max<uint64_t>(bytes, 1), kAlignment);
  if (!memory_.Map(bytes) || !states_.Map(bytes)) return false;
  base_ = reinterpret_cast<uint64_t>(memory_.data());
  next_ = 0;
  return true;
}

std::optional<uint64_t> DeviceMemory::Allocate(uint64_t bytes) {
  const uint64_t taken = llvm::alignTo(std::max<uint64_t>(bytes, 1), kAlignment);
  if (bytes > size() || taken > size() - used_) return std::nullopt;
  // A gap behind each, so that one byte too far is nobody's.
  uint64_t at = next_;
  if (taken > size() - at) {
    // First fit among what was freed and never used.
    std::optional<uint64_t> found;
    uint64_t end = 0;
    for (auto it = allocations_.begin();; ++it) {
      const uint64_t begin = it == allocations_.end() ? size() : it->first;
      if (begin - end >= taken) {
        found = end;
        break;
      }
      if (it == allocations_.end()) break;
      if (!it->second.freed) end = llvm::alignTo(it->first + it->second.bytes, kAlignment);
    }
    if (!found) return std::nullopt;
    at = *found;
    allocations_.erase(allocations_.lower_bound(at), allocations_.lower_bound(at + taken));
  } else {
    next_ = std::min(size(), at + taken + kAlignment);
  }
  allocations_[at] = {bytes, false};
  used_ += taken;
  std::memset(states_.data() + at, Unwritten, bytes);
  return base_ + at;
}

bool DeviceMemory::Release(uint64_t address) {
  const auto it = allocations_.find(address - base_);
  if (it == allocations_.end() || it->second.freed) return false;
  it->second.freed = true;
  used_ -= llvm::alignTo(std::max<uint64_t>(it->second.bytes, 1), kAlignment);
  std::memset(states_.data() + it->first, Freed, it->second.bytes);
  memory_.Clear(it->first, it->second.bytes);
  return true;
}

bool DeviceMemory::IsOfHost(uint64_t address, uint64_t bytes) const {
  auto it = host_.upper_bound(address);
  if (it == host_.begin()) return false;
  --it;
  return address - it->first <= it->second && bytes <= it->second - (address - it->first);
}

FaultKind DeviceMemory::Explain(uint8_t state) {
  if (state == Unwritten) return FaultKind::Unwritten;
  return state == Freed ? FaultKind::Freed : FaultKind::OutOfBounds;
}

void DeviceMemory::SetWritten(uint64_t address, uint64_t bytes, bool written) {
  std::memset(states_.data() + OffsetOf(address), written ? Written : Unwritten, bytes);
}

uint64_t DeviceMemory::CountUnwritten(uint64_t address, uint64_t bytes) const {
  const uint8_t* states = states_.data() + OffsetOf(address);
  if (AllWritten(states, bytes)) return 0;
  return bytes - static_cast<uint64_t>(std::count(states, states + bytes, Written));
}

void DeviceMemory::CopyStates(uint64_t to, uint64_t from, uint64_t bytes) {
  std::memmove(states_.data() + OffsetOf(to), states_.data() + OffsetOf(from), bytes);
}

bool DeviceMemory::IsAllocated(uint64_t address, uint64_t bytes) const {
  const auto found = Find(address);
  return found && bytes <= found->first + found->second - address;
}

std::optional<std::pair<uint64_t, uint64_t>> DeviceMemory::Find(uint64_t address) const {
  if (OffsetOf(address) >= size()) return std::nullopt;
  auto it = allocations_.upper_bound(OffsetOf(address));
  if (it == allocations_.begin()) return std::nullopt;
  --it;
  if (it->second.freed || OffsetOf(address) > it->first + it->second.bytes) return std::nullopt;
  return std::pair(base_ + it->first, it->second.bytes);
}

std::string DeviceMemory::Describe(uint64_t address) const {
  if (OffsetOf(address) >= size()) return llvm::formatv("address {0:x} is not in device memory", address);
  auto it = allocations_.upper_bound(OffsetOf(address));
  if (it == allocations_.begin())
    return llvm::formatv("address {0:x} lies before the first allocation", address);
  --it;
  const uint64_t begin = base_ + it->first;
  const char* freed = it->second.freed ? ", which was freed" : "";
  if (address < begin + it->second.bytes)
    return llvm::formatv("byte {0} of the {1} bytes at {2:x}{3}", address - begin, it->second.bytes, begin,
                         freed);
  return llvm::formatv("{0} bytes beyond the {1} bytes at {2:x}{3}", address - begin - it->second.bytes,
                       it->second.bytes, begin, freed);
}

}  // namespace hlo::gpu
