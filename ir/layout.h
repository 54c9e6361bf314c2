// Layouts: how an array lies in memory (hlo-text §2 "Layout properties", ops-elementwise §3.2).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo {

/// A list of dimension numbers or sizes.
using Dims = llvm::SmallVector<int64_t, 4>;

/// One tile `(8,128)`; kCombine stands for `*` (fold into the next more minor dimension).
struct Tile {
  static constexpr int64_t kCombine = INT64_MIN;
  llvm::SmallVector<int64_t, 2> dims;
  bool operator==(const Tile&) const = default;
};

/// One split configuration `SC(dimension:indices)`.
struct SplitConfig {
  int64_t dimension = 0;
  Dims indices;
  bool operator==(const SplitConfig&) const = default;
};

/// Layout of one array. minor_to_major is a permutation of 0…rank-1, fastest-varying first; its
/// validity is the verifier's business.
struct Layout {
  Dims minor_to_major;
  std::vector<Tile> tiles;
  int64_t tail_padding_alignment = 1;               // L(n), elements
  std::optional<ElementType> index_type;            // #(type)
  std::optional<ElementType> pointer_type;          // *(type)
  int64_t element_size_bits = 0;                    // E(n)
  int64_t memory_space = 0;                         // S(n), a signed byte
  std::vector<SplitConfig> split_configs;           // SC
  int64_t dynamic_shape_metadata_prefix_bytes = 0;  // M(n)
  bool operator==(const Layout&) const = default;

  /// The default layout {rank-1, …, 0} without properties.
  static Layout Default(int64_t rank);
  /// True if minor_to_major is {rank-1, …, 0} (properties do not matter).
  [[nodiscard]] bool IsDescending() const;
  /// True if something other than minor_to_major is set.
  [[nodiscard]] bool HasProperties() const;
};

}  // namespace hlo
