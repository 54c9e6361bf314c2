// Placing buffers of known life times in one heap (passes.md §5.6).
#pragma once
#include <vector>

#include "passes/analysis/live_range.h"

namespace hlo {

/// A buffer to place: `size` bytes during `live`. Buffers of equal moments never share bytes.
struct HeapBuffer {
  int64_t size = 0;
  LiveRange live;
};

/// The most bytes live at one time: no placement can do with less.
struct HeapPeak {
  int64_t bytes = 0;
  int64_t time = 0;  // the first time of the peak
};
HeapPeak LiveBytesPeak(llvm::ArrayRef<HeapBuffer> buffers);

enum class HeapOrder : uint8_t {
  Spatial,   // largest first, then longest
  Temporal,  // longest first, then largest
  Running,   // as the program runs, from a list of free blocks
};
llvm::StringRef ToString(HeapOrder order);

struct HeapResult {
  std::vector<int64_t> offsets;  // one per buffer
  int64_t size = 0;              // of the heap
  HeapOrder order = HeapOrder::Running;
};

/// Global decreasing size best fit: buffers in the given order, each into the smallest gap between those
/// placed before it that live at the same time, else on top. Running takes them as they begin instead.
/// Offsets are multiples of `alignment`. Nothing if more than `budget` neighbours would have to be looked at
/// (never for Running), or if sizes overflow.
std::optional<HeapResult> PlaceBuffers(llvm::ArrayRef<HeapBuffer> buffers, int64_t alignment, HeapOrder order,
                                       int64_t budget = INT64_MAX);
/// The best of all orders, within a budget that keeps the time near linear. Nothing on overflow.
std::optional<HeapResult> PlaceBuffers(llvm::ArrayRef<HeapBuffer> buffers, int64_t alignment);

}  // namespace hlo
