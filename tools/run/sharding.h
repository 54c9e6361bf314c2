// Global arrays and their parts per device, as the shardings of parameters and root say (tools.md §3.7).
#pragma once
#include "ir/literal.h"
#include "ir/sharding.h"

namespace hlo {

/// How one array is spread over the partitions: for each partition the place of its tile.
struct Tiling {
  Dims tiles;                     // per dimension; their product is the number of different tiles
  std::vector<Dims> coordinates;  // by partition
  bool replicated = true;         // partitions with the same tile hold the same values
  /// True if there is something to cut.
  [[nodiscard]] bool divides() const {
    return llvm::any_of(tiles, [](int64_t t) { return t > 1; });
  }
};

/// A value as the program means it, and how its leaves are cut for the partitions.
struct GlobalForm {
  Shape shape;                                // with the sizes of all tiles together
  std::vector<std::optional<Tiling>> leaves;  // depth first; nothing where each device holds the whole
  /// True if any leaf is cut.
  [[nodiscard]] bool cut() const {
    return llvm::any_of(leaves, [](const auto& tiling) { return tiling.has_value(); });
  }
};
/// The global form of a value of which each of `partitions` devices holds `local`. Tuple shardings list
/// leaves in depth-first order; any other one holds for all leaves. Leaves of dynamic size are not cut.
GlobalForm GlobalFormOf(const Shape& local, const Sharding* sharding, int64_t partitions);
/// The part of one partition, of the shape `local`.
Literal CutForPartition(const Literal& global, const Shape& local, const GlobalForm& form, int64_t partition);
/// The inverse, from the parts by partition; leaves that are not cut come from the first. Where `conflict`
/// is given, it is set to the index of a leaf of which two partitions hold different values though the
/// sharding says that they are equal.
Literal AssembleParts(llvm::ArrayRef<Literal> parts, const GlobalForm& form,
                      std::optional<ShapeIndex>* conflict = nullptr);

}  // namespace hlo
