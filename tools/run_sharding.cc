#include "tools/run_sharding.h"

namespace hlo {
namespace {

/// Copies a box of `sizes` between two row-major arrays of elements of `width` bytes.
void CopyBox(const uint8_t* from, const Dims& from_dims, const Dims& from_start, uint8_t* to,
             const Dims& to_dims, const Dims& to_start, const Dims& sizes, size_t width) {
  const size_t rank = sizes.size();
  for (const int64_t size : sizes)
    if (size == 0) return;
  const size_t row = rank == 0 ? width : static_cast<size_t>(sizes[rank - 1]) * width;
  Dims index(rank, 0);
  for (;;) {
    int64_t source = 0, target = 0;
    for (size_t d = 0; d < rank; ++d) {
      source = source * from_dims[d] + from_start[d] + index[d];
      target = target * to_dims[d] + to_start[d] + index[d];
    }
    std::memcpy(to + static_cast<size_t>(target) * width, from + static_cast<size_t>(source) * width, row);
    size_t d = rank == 0 ? 0 : rank - 1;  // whole rows at a time
    for (; d > 0; --d) {
      if (++index[d - 1] < sizes[d - 1]) break;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

Dims DimsOf(const Shape& shape) { return Dims(shape.dims().begin(), shape.dims().end()); }

Dims StartOf(const Shape& tile, const Tiling& tiling, int64_t partition) {
  Dims start = tiling.coordinates[static_cast<size_t>(partition)];
  for (size_t d = 0; d < start.size(); ++d) start[d] *= tile.dim(static_cast<int64_t>(d));
  return start;
}

}  // namespace

std::optional<Tiling> TilingOf(const Sharding* sharding, int64_t rank, int64_t partitions) {
  if (sharding == nullptr || sharding->kind != ShardingKind::Tiled ||
      static_cast<int64_t>(sharding->tile_dims.size()) < rank)
    return std::nullopt;
  std::vector<int64_t> devices;
  if (sharding->device_list)
    devices = *sharding->device_list;
  else if (sharding->iota)
    devices = Expand(*sharding->iota);
  int64_t product = 1;
  for (const int64_t t : sharding->tile_dims) {
    if (t < 1 || product > partitions) return std::nullopt;
    product *= t;
  }
  if (product != partitions || static_cast<int64_t>(devices.size()) != partitions) return std::nullopt;
  Tiling tiling;
  tiling.tiles.assign(sharding->tile_dims.begin(),
                      sharding->tile_dims.begin() + static_cast<ptrdiff_t>(rank));
  tiling.coordinates.assign(static_cast<size_t>(partitions), Dims(static_cast<size_t>(rank), 0));
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] < 0 || devices[i] >= partitions) return std::nullopt;
    // Dimensions behind the data's are subgroups: their members hold the same tile.
    auto rest = static_cast<int64_t>(i);
    for (size_t d = sharding->tile_dims.size(); d-- > 0;) {
      if (d < static_cast<size_t>(rank))
        tiling.coordinates[static_cast<size_t>(devices[i])][d] = rest % sharding->tile_dims[d];
      rest /= sharding->tile_dims[d];
    }
  }
  return tiling;
}

const Sharding* LeafSharding(const Sharding* sharding, const Shape& shape, const ShapeIndex& index) {
  if (sharding == nullptr || sharding->kind != ShardingKind::Tuple) return sharding;
  size_t number = 0, found = sharding->elements.size();
  ForEachLeaf(shape, [&](const ShapeIndex& at, const Shape&) {
    if (at == index) found = number;
    ++number;
  });
  return found < sharding->elements.size() ? &sharding->elements[found] : nullptr;
}

Shape GlobalShape(const Shape& tile, const Tiling& tiling) {
  Dims dims = DimsOf(tile);
  for (size_t d = 0; d < dims.size(); ++d)
    if (__builtin_mul_overflow(dims[d], tiling.tiles[d], &dims[d])) dims[d] = INT64_MAX;
  return Shape::ArrayWithDefaultLayout(tile.element_type(), dims);
}

Literal CutTile(const Literal& global, const Shape& tile, const Tiling& tiling, int64_t partition) {
  Literal part = Literal::Make(tile);
  const Dims dims = DimsOf(tile), origin(dims.size(), 0);
  CopyBox(global.data(), DimsOf(global.shape()), StartOf(tile, tiling, partition), part.MutableData(), dims,
          origin, dims, static_cast<size_t>(Info(tile.element_type()).host_bytes()));
  return part;
}

Literal Assemble(llvm::ArrayRef<Literal> tiles, const Tiling& tiling) {
  const Shape& tile = tiles.front().shape();
  Literal whole = Literal::Make(GlobalShape(tile, tiling));
  const Dims dims = DimsOf(tile), origin(dims.size(), 0);
  uint8_t* data = whole.MutableData();
  for (size_t p = 0; p < tiles.size(); ++p) {
    const Literal part = tiles[p].Unpack();
    CopyBox(part.data(), dims, origin, data, DimsOf(whole.shape()),
            StartOf(tile, tiling, static_cast<int64_t>(p)), dims,
            static_cast<size_t>(Info(tile.element_type()).host_bytes()));
  }
  return whole;
}

}  // namespace hlo
