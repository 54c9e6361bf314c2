#include "ir/support/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "llvm/Support/MathExtras.h"

namespace hlo {

void GrowHeap(size_t bytes) {
  constexpr size_t kHugePage = size_t{1} << 21, kMost = size_t{1} << 30;
  if (bytes < kHugePage) return;
  bytes = std::min(bytes, kMost) / kHugePage * kHugePage;
  const size_t room = mallinfo2().keepcost;  // at the end of the heap
  if (room >= bytes) return;
  // The heap grows by that much at once, in large pages, and does not shrink in between.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(kMost));
  mallopt(M_TOP_PAD, static_cast<int>(bytes));
  auto* const before = static_cast<char*>(sbrk(0));
  // A little more than there is room for: what malloc writes behind it claims a small page.
  void* volatile grown = malloc(room + (64 << 10));  // not to be optimised away
  free(grown);
  auto* const after = static_cast<char*>(sbrk(0));
  mallopt(M_TOP_PAD, 128 << 10);
  const auto at = reinterpret_cast<uintptr_t>(before);
  char* const begin = before + (llvm::alignTo(at, 4096) - at);
  if (begin < after) madvise(begin, static_cast<size_t>(after - begin), MADV_HUGEPAGE);
}

}  // namespace hlo
