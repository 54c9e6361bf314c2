#include "passes/analysis/heap_rooms.h"

#include <numeric>

#include "llvm/Support/MathExtras.h"

namespace hlo {
namespace {

/// Smaller buffers do not change what a program needs. Bytes.
constexpr int64_t kSmallest = 4096;
/// Rooms that are looked at for a buffer, and neighbours in them.
constexpr size_t kTries = 64, kNeighbours = 256;

struct Occupied {
  LiveRange live;
  int64_t begin, end;  // bytes
};

/// The first offset in the room at which so many bytes are free all the time.
std::optional<int64_t> FindOffset(llvm::ArrayRef<Occupied> occupied, const HeapRoom& room,
                                  const HeapBuffer& buffer, int64_t alignment) {
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (const Occupied& o : occupied)
    if (o.live.start <= buffer.live.end && buffer.live.start <= o.live.end)
      taken.emplace_back(o.begin, o.end);
  llvm::sort(taken);
  int64_t at = 0;
  for (const auto& [begin, end] : taken) {
    if (begin - at >= buffer.size) break;
    at = std::max(at, static_cast<int64_t>(
                          llvm::alignTo(static_cast<uint64_t>(end), static_cast<uint64_t>(alignment))));
  }
  return buffer.size <= room.size - at ? std::optional(at) : std::nullopt;
}

}  // namespace

std::vector<RoomPlace> PlaceInRooms(llvm::ArrayRef<HeapRoom> rooms, llvm::ArrayRef<HeapBuffer> buffers,
                                    int64_t alignment) {
  std::vector<RoomPlace> places(buffers.size());
  std::vector<std::vector<Occupied>> occupied(rooms.size());
  // The smallest room that is large enough comes first.
  std::vector<size_t> by_size(rooms.size()), order(buffers.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::iota(order.begin(), order.end(), size_t{0});
  llvm::sort(by_size,
             [&](size_t a, size_t b) { return std::pair(rooms[a].size, a) < std::pair(rooms[b].size, b); });
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-buffers[a].size, a) < std::pair(-buffers[b].size, b);
  });
  for (const size_t i : order) {
    const HeapBuffer& buffer = buffers[i];
    if (buffer.size < kSmallest) break;
    size_t tries = 0;
    for (auto it = llvm::partition_point(by_size, [&](size_t r) { return rooms[r].size < buffer.size; });
         it != by_size.end() && tries < kTries; ++it) {
      if (rooms[*it].until <= buffer.live.end || occupied[*it].size() >= kNeighbours) continue;
      ++tries;
      const auto offset = FindOffset(occupied[*it], rooms[*it], buffer, alignment);
      if (!offset) continue;
      occupied[*it].push_back({buffer.live, *offset, *offset + buffer.size});
      places[i] = {static_cast<int32_t>(*it), *offset};
      break;
    }
  }
  return places;
}

}  // namespace hlo
