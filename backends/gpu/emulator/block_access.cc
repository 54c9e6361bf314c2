// Accesses of memory, checked (ptx.md §3.1).
#include "backends/gpu/emulator/block.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

using ptx::Space;

std::string Unwritten(uint32_t bytes) {
  return llvm::formatv("reads {0} bytes, some of which nobody has written", bytes).str();
}

}  // namespace

uint8_t* Block::Access(Thread& thread, uint64_t address, const Site& site, uint32_t bytes) {
  Space space = site.space;
  uint64_t at = address;
  if (space == Space::Generic && address >= kSharedWindow) {
    const uint64_t window = (address - kSharedWindow) / kWindowSize;
    at = (address - kSharedWindow) % kWindowSize;
    space = window == 0 ? Space::Shared : window == 1 ? Space::Local : Space::Param;
    if (window > 2) space = Space::Generic;
  }
  if (address % bytes != 0) {
    Report(thread, site, FaultKind::Misaligned,
           llvm::formatv("address {0:x} is not aligned to {1} bytes", address, bytes).str());
    return nullptr;
  }
  switch (space) {
    case Space::Shared: return AccessShared(thread, at, site, bytes);
    case Space::Local: return AccessLocal(thread, at, site, bytes);
    case Space::Param: return AccessParam(thread, at, site, bytes);
    default: return AccessGlobal(thread, at, site, bytes);
  }
}

uint8_t* Block::AccessGlobal(Thread& thread, uint64_t address, const Site& site, uint32_t bytes) {
  DeviceMemory& memory = device_.memory();
  const bool store = site.access == Site::Access::Store;
  const FaultKind kind = memory.Check(address, bytes, store);
  if (kind != FaultKind::None) {
    const std::string what = kind == FaultKind::Unwritten
                                 ? Unwritten(bytes) + ": " + memory.Describe(address)
                                 : llvm::formatv("{0} {1} bytes at {2:x}: {3}", store ? "writes" : "reads",
                                                 bytes, address, memory.Describe(address))
                                       .str();
    Report(thread, site, kind, what);
    return nullptr;
  }
  const bool of_host = memory.OffsetOf(address) >= memory.size();
  if (device_.options().count && !of_host) counter_.Note(thread, site, false, address);
  if (device_.options().check_races && !of_host)
    CheckRace(thread, site, false, memory.OffsetOf(address), bytes);
  return fault_ ? nullptr : reinterpret_cast<uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
}

uint8_t* Block::AccessShared(Thread& thread, uint64_t at, const Site& site, uint32_t bytes) {
  const bool store = site.access == Site::Access::Store;
  if (at >= shared_bytes_ || bytes > shared_bytes_ - at) {
    Report(thread, site, FaultKind::OutOfBounds,
           llvm::formatv("{0} {1} bytes at {2} of {3} bytes of shared memory", store ? "writes" : "reads",
                         bytes, at, shared_bytes_)
               .str());
    return nullptr;
  }
  uint8_t* states = shared_states_.data() + at;
  if (!DeviceMemory::AllWritten(states, bytes) &&
      llvm::is_contained(llvm::ArrayRef(states, bytes), DeviceMemory::Copied)) {
    ReportCopied(thread, site, at, bytes);
    return nullptr;
  }
  if (store) {
    std::memset(states, DeviceMemory::Written, bytes);
  } else if (!DeviceMemory::AllWritten(states, bytes)) {
    while (*states == DeviceMemory::Written) ++states;
    Report(thread, site, FaultKind::Unwritten,
           Unwritten(bytes) +
               llvm::formatv(": byte {0} of shared memory", states - shared_states_.data()).str());
    return nullptr;
  }
  if (device_.options().count) counter_.Note(thread, site, true, at);
  if (device_.options().check_races) CheckRace(thread, site, true, at, bytes);
  return fault_ ? nullptr : shared_.data() + at;
}

uint8_t* Block::AccessLocal(Thread& thread, uint64_t at, const Site& site, uint32_t bytes) {
  if (at < kLocalBytes && bytes <= kLocalBytes - at) {
    // Few kernels have any.
    if (local_.data() == nullptr && !local_.Map(kLocalBytes * threads_.size()))
      llvm::report_fatal_error("the host has no memory for a block of threads");
    return local_.data() + kLocalBytes * thread.linear + at;
  }
  Report(thread, site, FaultKind::OutOfBounds, llvm::formatv("address {0} is not in local memory", at).str());
  return nullptr;
}

uint8_t* Block::AccessParam(Thread& thread, uint64_t at, const Site& site, uint32_t bytes) {
  const bool inside = at < entry_.param_bytes && bytes <= entry_.param_bytes - at;
  if (inside && site.access == Site::Access::Load) return thread.params + at;
  Report(thread, site, inside ? FaultKind::ReadOnly : FaultKind::OutOfBounds,
         llvm::formatv("{0} {1} bytes at {2} of {3} bytes of parameters",
                       site.access == Site::Access::Load ? "reads" : "writes", bytes, at, entry_.param_bytes)
             .str());
  return nullptr;
}

void Block::Begin(Thread& thread, Copy& copy) {
  const auto size = static_cast<uint32_t>(copy.size);
  if (Access(thread, copy.to, *copy.site, size) == nullptr) return;
  // Counted for itself, as far as it is read.
  Site source = *copy.site;
  source.space = Space::Global;
  source.access = Site::Access::Load;
  source.bytes = static_cast<uint32_t>(copy.bytes);
  source.number = ~source.number;
  if (copy.bytes != 0 && copy.from % copy.size != 0) {
    Report(thread, source, FaultKind::Misaligned,
           llvm::formatv("address {0:x} is not aligned to {1} bytes", copy.from, copy.size).str());
    return;
  }
  if (copy.bytes != 0) {
    const uint8_t* from = AccessGlobal(thread, copy.from, source, source.bytes);
    if (from == nullptr) return;
    std::memcpy(copy.data.data(), from, copy.bytes);
  }
  std::memset(shared_states_.data() + copy.to, DeviceMemory::Copied, copy.size);
}

/// What it brings was written now, for those that come after a barrier.
void Block::Complete(Thread& thread, const Copy& copy) {
  const auto size = static_cast<uint32_t>(copy.size);
  std::memset(shared_states_.data() + copy.to, DeviceMemory::Written, copy.size);
  if (device_.options().check_races) CheckRace(thread, *copy.site, true, copy.to, size);
  if (fault_) return;
  std::memcpy(shared_.data() + copy.to, copy.data.data(), copy.size);
  const auto* from = reinterpret_cast<const uint8_t*>(copy.from);  // NOLINT(performance-no-int-to-ptr)
  if (copy.bytes != 0 && std::memcmp(from, copy.data.data(), copy.bytes) != 0)
    Report(thread, *copy.site, FaultKind::GlobalRace,
           "race: what an asynchronous copy reads was written before it was waited for");
}

/// Names whose copy is on its way to what is touched.
void Block::ReportCopied(const Thread& thread, const Site& site, uint64_t at, uint32_t bytes) {
  const char* const does = site.access == Site::Access::Store ? "writes" : "reads";
  for (const auto& [number, groups] : copies_)
    for (const auto& group : groups)
      for (const Copy& copy : group) {
        if (copy.to >= at + bytes || at >= copy.to + copy.size) continue;
        const Thread& by = threads_[number];
        Report(thread, site, FaultKind::SharedRace,
               llvm::formatv("race: {0} what the asynchronous copy of line {1} by thread ({2},{3},{4}) is on "
                             "its way to, which is not waited for",
                             does, copy.site->inst->line, by.special[0], by.special[1], by.special[2])
                   .str());
        return;
      }
}

}  // namespace hlo::gpu
