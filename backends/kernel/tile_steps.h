// Loops that the threads of a block go through together in tiles, which lie in shared memory.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// How a tile is gone through: as many threads, in whole warps, each with so many neighbours at once.
struct TileShape {
  int64_t threads = 128, width = 1;
  /// Of its edges.
  [[nodiscard]] int64_t edge() const { return kLanes * width; }
  static constexpr int64_t kLanes = 32;
};

/// Extents of the loops across and along of a nest. Where one is shorter than a warp has lanes and threads
/// take no neighbours, a tile is all of the short one by as many of the other as there are threads, and is
/// gone through in the order of memory.
struct TiledExtents {
  int64_t across = 0, along = 0;
  [[nodiscard]] int64_t shorter() const { return across < along ? across : along; }
  [[nodiscard]] int64_t longer() const { return across < along ? along : across; }
  [[nodiscard]] bool IsShort(const TileShape& shape) const {
    return shape.width == 1 && shorter() < TileShape::kLanes && longer() >= TileShape::kLanes;
  }
};

/// The loads of an innermost loop body that run along `across`, a loop around the loop `along`, and not along
/// that: a tile has them run along memory. Masks are of indices only, which the tile makes as it reads.
llvm::SmallVector<const LoadStmt*, 2> LoadsAcross(const Kernel& kernel, const Region& body, LoopId across,
                                                  LoopId along);

/// Bytes of shared memory that the tile of an array of `type` takes: a column more than it holds, so that
/// columns go through all banks; of a short one as much as has each of its lines begin where the one before
/// ended for a warp.
int64_t BytesOfTile(const TileShape& shape, const TiledExtents& extents, ElementType type);

/// How many loops a tile with so many loads across has besides the one that counts tiles.
int32_t LoopsOfTile(const TileShape& shape, size_t loads);

/// Makes one loop `into` over tiles of two nested loops, a perfect nest whose innermost body holds no loops:
/// the loads across go through shared memory, threads and lanes go along memory in loads and stores. The new
/// loop is for blocks. Errors: kernel-schedule, with the kernel spoilt.
Status TileNest(Kernel& kernel, llvm::ArrayRef<LoopStmt*> nest, const TileShape& shape, LoopId into);

}  // namespace hlo::kernel
