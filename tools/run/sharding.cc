#include "tools/run/sharding.h"

#include <map>

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

/// Tiles by partition, put together.
Literal Assemble(llvm::ArrayRef<const Literal*> tiles, const Tiling& tiling, bool& equal) {
  const Shape& tile = tiles.front()->shape();
  Literal whole = Literal::Make(GlobalShape(tile, tiling));
  const Dims dims = DimsOf(tile), origin(dims.size(), 0);
  uint8_t* data = whole.MutableData();
  std::map<Dims, const Literal*> placed;
  for (size_t p = 0; p < tiles.size(); ++p) {
    const auto [at, first] = placed.try_emplace(tiling.coordinates[p], tiles[p]);
    if (!first) {
      equal &= !tiling.replicated || *at->second == *tiles[p];
      continue;
    }
    const Literal part = tiles[p]->Unpack();
    CopyBox(part.data(), dims, origin, data, DimsOf(whole.shape()),
            StartOf(tile, tiling, static_cast<int64_t>(p)), dims,
            static_cast<size_t>(Info(tile.element_type()).host_bytes()));
  }
  return whole;
}

/// Index `position` of row-major order as coordinates.
Dims Unravel(int64_t position, llvm::ArrayRef<int64_t> sizes) {
  Dims index(sizes.size(), 0);
  for (size_t d = sizes.size(); d-- > 0; position /= sizes[d]) index[d] = position % sizes[d];
  return index;
}

/// The first and second form: devices listed tile by tile.
std::optional<Tiling> ListedTiling(const Sharding& sharding, int64_t rank, int64_t partitions) {
  if (static_cast<int64_t>(sharding.tile_dims.size()) < rank) return std::nullopt;
  std::vector<int64_t> devices;
  if (sharding.device_list)
    devices = *sharding.device_list;
  else if (sharding.iota)
    devices = Expand(*sharding.iota);
  int64_t product = 1;
  for (const int64_t t : sharding.tile_dims) {
    if (t < 1 || product > partitions) return std::nullopt;
    product *= t;
  }
  if (product != partitions || static_cast<int64_t>(devices.size()) != partitions) return std::nullopt;
  const auto data_rank = static_cast<ptrdiff_t>(rank);
  Tiling tiling;
  tiling.tiles.assign(sharding.tile_dims.begin(), sharding.tile_dims.begin() + data_rank);
  tiling.coordinates.assign(static_cast<size_t>(partitions), Dims(static_cast<size_t>(rank), 0));
  tiling.replicated =
      llvm::all_of(sharding.subgroups, [](SubgroupType type) { return type == SubgroupType::Replicated; });
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] < 0 || devices[i] >= partitions) return std::nullopt;
    // Dimensions behind the data's are subgroups: their members hold the same tile.
    const Dims at = Unravel(static_cast<int64_t>(i), sharding.tile_dims);
    tiling.coordinates[static_cast<size_t>(devices[i])].assign(at.begin(), at.begin() + data_rank);
  }
  return tiling;
}

/// The third form: axes of a mesh by dimension.
std::optional<Tiling> MeshTiling(const MeshSharding& sharding, int64_t rank, int64_t partitions) {
  if (!sharding.has_dims || static_cast<int64_t>(sharding.dims.size()) != rank) return std::nullopt;
  Tiling tiling;
  ReplicaGroups groups;
  groups.mesh.emplace();
  groups.mesh->mesh = sharding.mesh;
  for (const MeshSharding::Dim& dim : sharding.dims) {
    int64_t tiles = 1;
    for (const AxisRef& axis : dim.axes) {
      const int64_t size =
          axis.sub_axis ? axis.sub_axis->second : sharding.mesh.axes[static_cast<size_t>(axis.axis)].size;
      if (__builtin_mul_overflow(tiles, size, &tiles)) return std::nullopt;
      groups.mesh->axes.push_back(axis);
    }
    tiling.tiles.push_back(tiles);
  }
  // Devices of one group differ in these axes alone, the last one fastest: a group holds every tile once.
  const auto expanded = Expand(groups);
  if (!expanded) return std::nullopt;
  tiling.coordinates.assign(static_cast<size_t>(partitions), Dims(static_cast<size_t>(rank), 0));
  tiling.replicated = sharding.manual.empty() && sharding.unreduced.empty();
  int64_t devices = 0;
  for (const Dims& group : *expanded)
    for (size_t i = 0; i < group.size(); ++i, ++devices) {
      if (group[i] < 0 || group[i] >= partitions) return std::nullopt;
      tiling.coordinates[static_cast<size_t>(group[i])] = Unravel(static_cast<int64_t>(i), tiling.tiles);
    }
  if (devices != partitions) return std::nullopt;
  return tiling;
}

/// The tiling of an array of `rank` dimensions over `partitions` devices, if the sharding is tiled (in any
/// of the three forms) and fits; else nothing: every device holds the whole.
std::optional<Tiling> TilingOf(const Sharding* sharding, int64_t rank, int64_t partitions) {
  if (sharding == nullptr) return std::nullopt;
  if (sharding->kind == ShardingKind::Tiled) return ListedTiling(*sharding, rank, partitions);
  if (sharding->kind == ShardingKind::Mesh) return MeshTiling(*sharding->mesh, rank, partitions);
  return std::nullopt;
}

/// The sharding of leaf number `leaf`.
const Sharding* LeafSharding(const Sharding* sharding, size_t leaf) {
  if (sharding == nullptr || sharding->kind != ShardingKind::Tuple) return sharding;
  return leaf < sharding->elements.size() ? &sharding->elements[leaf] : nullptr;
}

/// Calls `on_leaf(leaf value, its number)` for the leaves of a shape, and makes a value of what it returns.
template <class OnLeaf>
Literal MakeByLeaf(const Shape& shape, size_t& leaf, ShapeIndex& index, OnLeaf on_leaf) {
  if (!shape.IsTuple()) return on_leaf(index, shape, leaf++);
  std::vector<Literal> elements;
  for (int64_t i = 0; i < shape.tuple_size(); ++i) {
    index.push_back(i);
    elements.push_back(MakeByLeaf(shape.tuple_shape(i), leaf, index, on_leaf));
    index.pop_back();
  }
  return Literal::MakeTuple(std::move(elements));
}

Shape MakeGlobalShape(const Shape& local, const std::vector<std::optional<Tiling>>& tilings, size_t& leaf) {
  if (!local.IsTuple()) {
    const auto& tiling = tilings[leaf++];
    return tiling ? GlobalShape(local, *tiling) : local;
  }
  std::vector<Shape> elements;
  for (const Shape& element : local.tuple_shapes())
    elements.push_back(MakeGlobalShape(element, tilings, leaf));
  return Shape::MakeTuple(elements);
}

const Literal& At(const Literal& value, const ShapeIndex& index) {
  const Literal* at = &value;
  for (const int64_t i : index) at = &at->element(i);
  return *at;
}

}  // namespace

GlobalForm GlobalFormOf(const Shape& local, const Sharding* sharding, int64_t partitions) {
  GlobalForm form;
  ForEachLeaf(local, [&](const ShapeIndex&, const Shape& leaf) {
    std::optional<Tiling> tiling;
    if (partitions > 1 && leaf.IsArray() && !leaf.HasDynamicDimension())
      tiling = TilingOf(LeafSharding(sharding, form.leaves.size()), leaf.rank(), partitions);
    if (tiling && !tiling->divides()) tiling.reset();
    form.leaves.push_back(std::move(tiling));
  });
  size_t leaf = 0;
  form.shape = form.cut() ? MakeGlobalShape(local, form.leaves, leaf) : local;
  return form;
}

Literal CutForPartition(const Literal& global, const Shape& local, const GlobalForm& form,
                        int64_t partition) {
  size_t leaf = 0;
  ShapeIndex index;
  return MakeByLeaf(local, leaf, index, [&](const ShapeIndex& at, const Shape& shape, size_t number) {
    const auto& tiling = form.leaves[number];
    return tiling ? CutTile(At(global, at), shape, *tiling, partition) : At(global, at);
  });
}

Literal AssembleParts(llvm::ArrayRef<Literal> parts, const GlobalForm& form,
                      std::optional<ShapeIndex>* conflict) {
  size_t leaf = 0;
  ShapeIndex index;
  return MakeByLeaf(form.shape, leaf, index, [&](const ShapeIndex& at, const Shape&, size_t number) {
    const auto& tiling = form.leaves[number];
    std::vector<const Literal*> tiles;
    for (const Literal& part : parts) tiles.push_back(&At(part, at));
    bool equal = true;
    Literal whole = *tiles.front();
    if (tiling)
      whole = Assemble(tiles, *tiling, equal);
    else
      equal = llvm::all_of(tiles, [&](const Literal* tile) { return *tile == *tiles.front(); });
    if (!equal && conflict != nullptr && !*conflict) *conflict = at;
    return whole;
  });
}

}  // namespace hlo
