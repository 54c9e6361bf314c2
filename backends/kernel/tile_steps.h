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

/// The loads of an innermost loop body that run along `across`, a loop around the loop `along`, and not along
/// that: a tile has them run along memory.
llvm::SmallVector<const LoadStmt*, 2> LoadsAcross(const Kernel& kernel, const Region& body, LoopId across,
                                                  LoopId along);

/// Bytes of shared memory that the tile of an array of `type` takes: a column more than it holds, so that
/// columns go through all banks.
int64_t BytesOfTile(const TileShape& shape, ElementType type);

/// How many loops a tile with so many loads across has besides the one that counts tiles.
int32_t LoopsOfTile(const TileShape& shape, size_t loads);

/// Makes one loop `into` over tiles of two nested loops, a perfect nest whose innermost body holds no loops:
/// the loads across go through shared memory, threads and lanes go along memory in loads and stores. The new
/// loop is for blocks. Errors: kernel-schedule, with the kernel spoilt.
Status TileNest(Kernel& kernel, llvm::ArrayRef<LoopStmt*> nest, const TileShape& shape, LoopId into);

}  // namespace hlo::kernel
