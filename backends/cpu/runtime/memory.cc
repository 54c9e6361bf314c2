#include "backends/cpu/runtime/memory.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "backends/cpu/runtime/call.h"
#include "ir/support/buffer.h"

// In the archive, malloc and its like are the functions below, and these are the heap's
// (scripts/link_archive).
extern "C" {
void* hlo_rt_heap_aligned_alloc(size_t alignment, size_t bytes);
void hlo_rt_heap_free(void* block);
size_t hlo_rt_heap_usable(void* block);

void* hlo_rt_malloc(size_t bytes);
void* hlo_rt_calloc(size_t count, size_t bytes);
void* hlo_rt_realloc(void* block, size_t bytes);
void* hlo_rt_aligned_alloc(size_t alignment, size_t bytes);
int hlo_rt_posix_memalign(void** block, size_t alignment, size_t bytes);
void hlo_rt_free(void* block);
}

namespace hlo::runtime {

thread_local constinit Memory thread_memory;

namespace {

struct Size {
  size_t units, number;  // of the size
};
Size SizeOf(size_t bytes) {
  size_t units = std::max<size_t>((bytes + kUnit - 1) / kUnit, 1);
  const auto step_of = [](size_t n) { return std::max<size_t>(std::bit_floor(n) / 8, 1); };
  units = (units + step_of(units) - 1) / step_of(units) * step_of(units);
  const auto power = static_cast<size_t>(std::max(static_cast<int>(std::bit_width(units)) - 4, 0));
  return {units, power * 8 + units / step_of(units)};
}

/// What comes before the bytes of a block: a unit that says how large it is.
struct alignas(kUnit) Head {
  size_t bytes, number;
};
Head* HeadOf(void* block) { return static_cast<Head*>(block) - 1; }

bool IsOfArena(const void* block) { return block >= thread_memory.begin && block < thread_memory.end; }

void* Allocate(size_t bytes, size_t alignment) {
  if (thread_memory.part == nullptr) {
    alignment = std::max(alignment, alignof(std::max_align_t));
    return hlo_rt_heap_aligned_alloc(alignment,
                                     (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
  }
  void* block = alignment > kUnit ? nullptr : thread_memory.part->arena.Take(bytes);
  if (block == nullptr) GiveUp(kOutOfMemory);
  return block;
}

void Free(void* block) {
  if (block == nullptr) return;
  if (thread_memory.part != nullptr && IsOfArena(block)) return thread_memory.part->arena.Give(block);
  hlo_rt_heap_free(block);
}

}  // namespace

void Arena::Reset(uint8_t* begin, uint8_t* end) {
  begin_ = at_ = peak_ = begin;
  end_ = end;
  blocks_ = 0;
  std::fill(std::begin(free_), std::end(free_), nullptr);
}

void Arena::ReturnTo(const Mark& mark) {
  if (blocks_ != mark.blocks) return;
  at_ = mark.at;
  std::fill(std::begin(free_), std::end(free_), nullptr);
}

void* Arena::Take(size_t bytes) {
  const Size size = SizeOf(bytes);
  if (size.number >= kClasses) return nullptr;
  if (void* block = free_[size.number]) {
    free_[size.number] = *static_cast<void**>(block);
    ++blocks_;
    return block;
  }
  const size_t all = size.units * kUnit + sizeof(Head);
  if (all > static_cast<size_t>(end_ - at_)) return nullptr;
  auto* head = new (at_) Head{size.units * kUnit, size.number};
  at_ += all;
  peak_ = std::max(peak_, at_);
  ++blocks_;
  return head + 1;
}

uint8_t* Arena::TakeForGood(size_t bytes) {
  bytes = InUnits(bytes);
  return bytes > static_cast<size_t>(end_ - at_) ? nullptr : end_ -= bytes;
}

size_t Arena::BytesOf(const void* block) { return (static_cast<const Head*>(block) - 1)->bytes; }

void Arena::Give(void* block) {
  if (block < begin_ || block >= end_) return;
  const size_t number = HeadOf(block)->number;
  *static_cast<void**>(block) = free_[number];
  free_[number] = block;
  --blocks_;
}

namespace {
/// Sizes are often powers of two, and rows of the same number would take the same places of caches.
size_t RoomFor(size_t scratch) { return scratch == 0 ? 0 : InUnits(scratch) + kUnit; }
}  // namespace

size_t PartSize::Bytes() const {
  size_t bytes = InUnits(arena);
  for (const size_t scratch : kept) bytes += RoomFor(scratch);
  return bytes;
}

void PartSize::Raise(const PartSize& other) {
  arena = std::max(arena, other.arena);
  for (size_t i = 0; i < kScratchUses; ++i) kept[i] = std::max(kept[i], other.kept[i]);
}

void Part::Begin(uint8_t* first, const PartSize& size) {
  for (size_t i = 0; i < kScratchUses; ++i) {
    kept[i] = {first, static_cast<int64_t>(size.kept[i])};
    first += RoomFor(size.kept[i]);
  }
  arena.Reset(first, first + InUnits(size.arena));
  begun = true;
}

PartSize Part::Peak() const {
  PartSize peak{.arena = arena.Peak()};
  for (size_t i = 0; i < kScratchUses; ++i) peak.kept[i] = static_cast<size_t>(kept[i].bytes);
  return peak;
}

}  // namespace hlo::runtime

using hlo::runtime::Allocate;
using hlo::runtime::Free;

void* hlo_rt_malloc(size_t bytes) { return Allocate(bytes, 1); }
void* hlo_rt_calloc(size_t count, size_t bytes) {
  if (bytes != 0 && count > ~size_t{0} / bytes) return nullptr;
  void* block = Allocate(count * bytes, 1);
  if (block != nullptr) std::memset(block, 0, count * bytes);
  return block;
}
void* hlo_rt_realloc(void* block, size_t bytes) {
  if (block == nullptr) return Allocate(bytes, 1);
  const size_t had =
      hlo::runtime::IsOfArena(block) ? hlo::runtime::Arena::BytesOf(block) : hlo_rt_heap_usable(block);
  if (had >= bytes) return block;
  void* larger = Allocate(bytes, 1);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, block, had);
  Free(block);
  return larger;
}
void* hlo_rt_aligned_alloc(size_t alignment, size_t bytes) { return Allocate(bytes, alignment); }
int hlo_rt_posix_memalign(void** block, size_t alignment, size_t bytes) {
  *block = Allocate(bytes, alignment);
  return *block == nullptr ? ENOMEM : 0;
}
void hlo_rt_free(void* block) { Free(block); }

// What is made with a first use outlives the call in which that is, so it lies in the heap. Bytes of a guard:
// the value is there (code looks at it itself), somebody makes it.
namespace {
thread_local constinit int making = 0;  // values within each other
thread_local constinit hlo::runtime::Memory of_call;

void EndMaking(char* guard, char done) {
  if (--making == 0) hlo::runtime::thread_memory = of_call;
  std::atomic_ref(guard[0]).store(done, std::memory_order_release);
  std::atomic_ref(guard[1]).store(0, std::memory_order_release);
}
}  // namespace
extern "C" {
int __cxa_guard_acquire(char* guard) {
  for (std::atomic_ref<char> done(guard[0]), taken(guard[1]); done.load(std::memory_order_acquire) == 0;) {
    if (taken.exchange(1, std::memory_order_acquire) != 0) {
      sched_yield();
      continue;
    }
    if (done.load(std::memory_order_acquire) != 0) {
      taken.store(0, std::memory_order_release);
      break;
    }
    if (making++ == 0) of_call = std::exchange(hlo::runtime::thread_memory, {});
    return 1;
  }
  return 0;
}
void __cxa_guard_release(char* guard) { EndMaking(guard, 1); }
void __cxa_guard_abort(char* guard) { EndMaking(guard, 0); }
}

void* operator new(size_t bytes) { return Allocate(bytes, 1); }
void* operator new[](size_t bytes) { return Allocate(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes, 1); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes, 1); }
void operator delete(void* block) noexcept { Free(block); }
void operator delete[](void* block) noexcept { Free(block); }
void operator delete(void* block, size_t) noexcept { Free(block); }
void operator delete[](void* block, size_t) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { Free(block); }

// Buffers without a cache of their own (ir/support/buffer.h).
namespace hlo {

internal::Block internal::TakeBlock(size_t bytes) {
  return {runtime::Allocate(bytes, runtime::kUnit), bytes};
}
bool internal::IsKept(size_t) { return false; }
void BufferDeleter::operator()(void* p) const { runtime::Free(p); }
std::shared_ptr<void> AllocateBuffer(size_t bytes) {
  return {runtime::Allocate(bytes, runtime::kUnit), BufferDeleter{bytes}};
}

/// What a thread keeps from use to use has a place in its part of a call, as large as it was when the step
/// was measured; if that is too small, as what is computed may depend on values, there is some room left.
uint8_t* gemm::Scratch(ScratchUse use, int64_t bytes) {
  thread_local constinit runtime::KeptScratch outside_of_calls[runtime::kScratchUses];
  runtime::Part* const part = runtime::thread_memory.part;
  runtime::KeptScratch& kept = (part == nullptr ? outside_of_calls : part->kept)[static_cast<size_t>(use)];
  if (kept.data != nullptr && kept.bytes >= bytes) return kept.data;
  const auto size = static_cast<size_t>(bytes);
  if (part == nullptr) {
    runtime::Free(kept.data);
    kept.data = static_cast<uint8_t*>(runtime::Allocate(size, runtime::kUnit));
  } else {
    kept.data = part->arena.TakeForGood(size);
    if (kept.data == nullptr) runtime::GiveUp(runtime::kOutOfMemory);
  }
  kept.bytes = bytes;
  return kept.data;
}

}  // namespace hlo
