#include "ir/support/buffer_warm_up.h"

#include <sys/mman.h>

#include <algorithm>

#include "ir/support/buffer.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;
/// Below it, a thread of its own costs as much as it saves.
constexpr size_t kLeast = size_t{4} << 20;

/// Has the system give memory to whole pages of a block that nobody uses.
void Touch(char* begin, size_t size) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(begin, size, MADV_POPULATE_WRITE) == 0) return;
#endif
  constexpr size_t kPage = 4096;
  for (size_t at = 0; at < size; at += kPage) *const_cast<volatile char*>(begin + at) = 0;
}

}  // namespace

BufferWarmUp::BufferWarmUp(std::vector<size_t> sizes) : sizes_(std::move(sizes)) {
  std::erase_if(sizes_, [](size_t size) { return !internal::IsKept(size); });
  // Whoever asks for less may be given more.
  llvm::sort(sizes_, std::greater<>());
  size_t total = 0;
  for (const size_t size : sizes_) total += size;
  if (total < kLeast || ThreadCount() == 1) return;
  thread_ = QuietThread([this] { Run(); });
}

BufferWarmUp::~BufferWarmUp() {
  ended_ = true;
  if (thread_.joinable()) thread_.join();
}

void BufferWarmUp::Run() const {
  // They are given back all together, or each would be the next one's.
  std::vector<Buffer<char>> blocks;
  for (const size_t size : sizes_) {
    if (ended_) break;
    blocks.push_back(MakeBuffer<char>(size));
    for (size_t at = 0; at < size && !ended_; at += kHugePage)
      Touch(blocks.back().get() + at, std::min(kHugePage, size - at));
  }
}

}  // namespace hlo
