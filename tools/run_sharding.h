// Global arrays and their parts per device, as the shardings of parameters and root say (tools.md §3.7).
#pragma once
#include "ir/literal.h"
#include "ir/sharding.h"

namespace hlo {

/// How one array is spread over the partitions: for each partition the place of its tile.
struct Tiling {
  Dims tiles;                     // per dimension; their product is the number of different tiles
  std::vector<Dims> coordinates;  // by partition
  /// True if there is something to cut.
  [[nodiscard]] bool divides() const {
    return llvm::any_of(tiles, [](int64_t t) { return t > 1; });
  }
};

/// The tiling of an array of `rank` dimensions over `partitions` devices, if the sharding is tiled (first
/// and second form) and fits; else nothing: every device holds the whole.
std::optional<Tiling> TilingOf(const Sharding* sharding, int64_t rank, int64_t partitions);
/// The sharding of the leaf at `index` of a value with this sharding; may be null. Tuple shardings list
/// leaves in depth-first order.
const Sharding* LeafSharding(const Sharding* sharding, const Shape& shape, const ShapeIndex& index);

/// The shape of all tiles together.
Shape GlobalShape(const Shape& tile, const Tiling& tiling);
/// The tile of one partition.
Literal CutTile(const Literal& global, const Shape& tile, const Tiling& tiling, int64_t partition);
/// The inverse: tiles by partition.
Literal Assemble(llvm::ArrayRef<Literal> tiles, const Tiling& tiling);

}  // namespace hlo
