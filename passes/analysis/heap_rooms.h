// Placing buffers in memory that is not used yet.
#pragma once
#include <vector>

#include "passes/analysis/heap_simulator.h"

namespace hlo {

/// Memory that is free until a moment, such as that of a result which is not there yet.
struct HeapRoom {
  int64_t size = 0;
  int64_t until = 0;  // the first moment at which it is used
};

/// Where a buffer lies; room -1: nowhere.
struct RoomPlace {
  int32_t room = -1;
  int64_t offset = 0;
};

/// Places what fits into rooms: the largest buffers first, those of equal moments never over each other. What
/// is too small to matter is left to the heap, and so is what would take too long to find room for. Offsets
/// are multiples of `alignment`.
std::vector<RoomPlace> PlaceInRooms(llvm::ArrayRef<HeapRoom> rooms, llvm::ArrayRef<HeapBuffer> buffers,
                                    int64_t alignment);

}  // namespace hlo
