// Device lists: canonical forms and expansion (hlo-text §5 "replica_groups", "sharding").
#include "ir/sharding.h"

#include <algorithm>
#include <numeric>

#include "llvm/ADT/STLExtras.h"

namespace hlo {
namespace {

using llvm::ArrayRef;

constexpr int64_t kMaxExpanded = int64_t{1} << 24;

/// Product of non-negative factors, saturating at kMaxExpanded + 1; negative if a factor is.
int64_t BoundedProduct(ArrayRef<int64_t> factors) {
  int64_t product = 1;
  for (int64_t f : factors) {
    if (f < 0) return -1;
    if (f == 0) return 0;
  }
  for (int64_t f : factors) {
    if (f > kMaxExpanded / product) return kMaxExpanded + 1;
    product *= f;
  }
  return product;
}

bool IsPermutation(ArrayRef<int64_t> permutation) {
  llvm::SmallVector<bool, 8> seen(permutation.size(), false);
  for (int64_t p : permutation) {
    if (p < 0 || p >= static_cast<int64_t>(permutation.size()) || seen[static_cast<size_t>(p)]) return false;
    seen[static_cast<size_t>(p)] = true;
  }
  return true;
}

/// Also that the number of ids fits int64.
bool IsWellFormed(const IotaDevices& iota) {
  int64_t product = 1;
  for (int64_t d : iota.reshape_dims)
    if (d <= 0 || __builtin_mul_overflow(product, d, &product)) return false;
  return iota.reshape_dims.size() == iota.permutation.size() && IsPermutation(iota.permutation);
}

/// Numbers 0…n-1 of an array of shape `dims` in row-major order, transposed by `permutation`.
std::vector<int64_t> TransposedIota(ArrayRef<int64_t> dims, ArrayRef<int64_t> permutation) {
  const size_t rank = dims.size();
  Dims strides(rank, 1), sizes(rank), steps(rank), index(rank, 0);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  for (size_t i = 0; i < rank; ++i) {
    sizes[i] = dims[static_cast<size_t>(permutation[i])];
    steps[i] = strides[static_cast<size_t>(permutation[i])];
  }
  std::vector<int64_t> ids;
  ids.reserve(static_cast<size_t>(BoundedProduct(dims)));
  int64_t value = 0;
  while (true) {
    ids.push_back(value);
    size_t i = rank;
    while (i > 0 && ++index[i - 1] == sizes[i - 1]) {
      value -= steps[i - 1] * (sizes[i - 1] - 1);
      index[i - 1] = 0;
      --i;
    }
    if (i == 0) return ids;
    value += steps[i - 1];
  }
}

// --- Tiles with subgroups ---

/// The iota list as dimensions in transposed order, outermost first: its size and the stride of ids
/// along it. Unlike reshape dims and permutation these can be cut at any divisor.
struct Strided {
  int64_t size, stride;
};
using StridedDims = llvm::SmallVector<Strided, 8>;

StridedDims ToStrided(const IotaDevices& iota) {
  const size_t rank = iota.reshape_dims.size();
  Dims strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * iota.reshape_dims[i];
  StridedDims result;
  for (int64_t p : iota.permutation)
    result.push_back({iota.reshape_dims[static_cast<size_t>(p)], strides[static_cast<size_t>(p)]});
  return result;
}

IotaDevices FromStrided(ArrayRef<Strided> dims) {
  llvm::SmallVector<size_t, 8> order(dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  llvm::sort(order, [&](size_t a, size_t b) { return dims[a].stride > dims[b].stride; });
  IotaDevices iota;
  iota.permutation.resize(dims.size());
  for (size_t i = 0; i < order.size(); ++i) {
    iota.reshape_dims.push_back(dims[order[i]].size);
    iota.permutation[order[i]] = static_cast<int64_t>(i);
  }
  Canonicalize(iota);
  return iota;
}

/// Cuts the dimensions so that the tile dimensions end on their borders; the pieces of each tile
/// dimension, or nothing if the sizes do not nest.
std::optional<std::vector<StridedDims>> CutAt(ArrayRef<Strided> dims, ArrayRef<int64_t> tile_dims) {
  std::vector<StridedDims> pieces;
  size_t at = 0;
  Strided rest = dims.empty() ? Strided{1, 1} : dims[0];
  for (int64_t wanted : tile_dims) {
    StridedDims& out = pieces.emplace_back();
    while (wanted > 1) {
      while (rest.size == 1) {
        if (++at >= dims.size()) return std::nullopt;
        rest = dims[at];
      }
      const int64_t take = std::min(wanted, rest.size);
      if (wanted % take != 0 || rest.size % take != 0) return std::nullopt;
      const int64_t inner = rest.size / take;
      out.push_back({take, rest.stride * inner});
      rest = {inner, rest.stride};
      wanted /= take;
    }
  }
  return pieces;
}

/// The tile dimensions in the order in which they shall stand, and how many of the last ones are
/// replicated (their ids are sorted).
struct TileOrder {
  llvm::SmallVector<size_t, 8> order;
  size_t replicated = 0;
};

bool ReorderIota(Sharding& s, const TileOrder& to) {
  if (!IsWellFormed(*s.iota) || BoundedProduct(s.iota->reshape_dims) != BoundedProduct(s.tile_dims))
    return false;
  auto pieces = CutAt(ToStrided(*s.iota), s.tile_dims);
  if (!pieces) return false;
  StridedDims all;
  const size_t sorted_from = to.order.size() - to.replicated;
  size_t sorted_begin = 0;
  for (size_t i = 0; i < to.order.size(); ++i) {
    if (i == sorted_from) sorted_begin = all.size();
    llvm::append_range(all, (*pieces)[to.order[i]]);
  }
  if (to.replicated > 0)
    std::sort(all.begin() + sorted_begin, all.end(),
              [](const Strided& a, const Strided& b) { return a.stride > b.stride; });
  s.iota = FromStrided(all);
  return true;
}

void ReorderList(Sharding& s, const TileOrder& to) {
  std::vector<int64_t>& ids = *s.device_list;
  if (static_cast<int64_t>(ids.size()) != BoundedProduct(s.tile_dims) || ids.empty()) return;
  Dims permutation;
  for (size_t d : to.order) permutation.push_back(static_cast<int64_t>(d));
  const std::vector<int64_t> from = TransposedIota(s.tile_dims, permutation);
  std::vector<int64_t> moved(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) moved[i] = ids[static_cast<size_t>(from[i])];
  int64_t group = 1;
  for (size_t i = to.order.size() - to.replicated; i < to.order.size(); ++i)
    group *= s.tile_dims[to.order[i]];
  if (to.replicated > 0)
    for (auto it = moved.begin(); it != moved.end(); it += group) std::sort(it, it + group);
  ids = std::move(moved);
}

ShardingKind PlainKind(SubgroupType type) {
  switch (type) {
    case SubgroupType::Manual: return ShardingKind::Manual;
    case SubgroupType::Unreduced: return ShardingKind::Unreduced;
    case SubgroupType::Replicated: return ShardingKind::Replicated;
    case SubgroupType::Maximal: return ShardingKind::Tiled;
  }
  llvm_unreachable("all subgroup types are above");
}

void MakePlain(Sharding& s, ShardingKind kind) {
  s.kind = kind;
  s.tile_dims.clear();
  s.device_list.reset();
  s.iota.reset();
  s.subgroups.clear();
  s.replicate_last_tile_dim = false;
}

void CanonicalizeTiles(Sharding& s) {
  if (s.iota) Canonicalize(*s.iota);
  if (s.replicate_last_tile_dim) s.subgroups = {SubgroupType::Replicated};
  s.replicate_last_tile_dim = false;
  if (s.subgroups.empty() || s.subgroups.size() > s.tile_dims.size()) return;
  const size_t data_rank = s.tile_dims.size() - s.subgroups.size();

  // Order by type; sizes of 1 say nothing.
  TileOrder to;
  for (size_t i = 0; i < data_rank; ++i) to.order.push_back(i);
  Dims dims(s.tile_dims.begin(), s.tile_dims.begin() + data_rank);
  std::vector<SubgroupType> types;
  for (SubgroupType type :
       {SubgroupType::Maximal, SubgroupType::Manual, SubgroupType::Unreduced, SubgroupType::Replicated}) {
    int64_t size = 1;
    for (size_t i = 0; i < s.subgroups.size(); ++i) {
      if (s.subgroups[i] != type) continue;
      to.order.push_back(data_rank + i);
      size *= s.tile_dims[data_rank + i];
      if (type == SubgroupType::Replicated) ++to.replicated;
    }
    if (size == 1) continue;
    dims.push_back(size);
    types.push_back(type);
  }
  const bool trivial_data =
      llvm::all_of(ArrayRef(dims).take_front(data_rank), [](int64_t d) { return d == 1; });
  const bool one_type = types.size() == 1 || (types.empty() && llvm::all_equal(s.subgroups));
  if (trivial_data && one_type) {
    const SubgroupType only = types.empty() ? s.subgroups.front() : types.front();
    if (PlainKind(only) != ShardingKind::Tiled) {
      MakePlain(s, PlainKind(only));
      return;
    }
  }
  const bool in_place = llvm::is_sorted(to.order) && to.replicated == 0;
  if (s.iota && !in_place && !ReorderIota(s, to)) {
    if (!IsWellFormed(*s.iota) || BoundedProduct(s.iota->reshape_dims) != BoundedProduct(s.tile_dims)) return;
    s.device_list = Expand(*s.iota);
    s.iota.reset();
  }
  if (s.device_list && !in_place) ReorderList(s, to);
  s.tile_dims = dims;
  s.replicate_last_tile_dim = types.size() == 1 && types.front() == SubgroupType::Replicated;
  s.subgroups = s.replicate_last_tile_dim ? std::vector<SubgroupType>{} : types;
}

std::optional<std::vector<Dims>> Groups(const IotaDevices& devices, int64_t count, int64_t size) {
  if (count < 0 || size < 0 || BoundedProduct({count, size}) > kMaxExpanded) return std::nullopt;
  std::vector<int64_t> ids = Expand(devices);
  if (static_cast<int64_t>(ids.size()) != count * size) return std::nullopt;
  std::vector<Dims> groups;
  for (int64_t g = 0; g < count; ++g)
    groups.emplace_back(ids.begin() + g * size, ids.begin() + (g + 1) * size);
  return groups;
}

/// The mesh's devices in row-major order of its axes.
std::vector<int64_t> MeshDevices(const Mesh& mesh, int64_t count) {
  if (mesh.device_ids) return *mesh.device_ids;
  if (mesh.iota_devices) return Expand(*mesh.iota_devices);
  std::vector<int64_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  return ids;
}

/// Groups of devices that differ only in the named axes (or parts of axes).
std::optional<std::vector<Dims>> Groups(const ReplicaGroups::MeshAxes& m) {
  if (m.mesh.maximal_device) return std::vector<Dims>{Dims{*m.mesh.maximal_device}};
  // Cut every axis at the borders of its sub-axes; remember which piece is grouped, in order.
  Dims sizes;
  llvm::SmallVector<int64_t, 8> grouped(m.axes.size(), -1), rest;
  for (size_t a = 0; a < m.mesh.axes.size(); ++a) {
    const int64_t full = m.mesh.axes[a].size;
    llvm::SmallVector<std::pair<int64_t, size_t>, 4> parts;  // (pre_size, number in m.axes)
    for (size_t i = 0; i < m.axes.size(); ++i)
      if (m.axes[i].axis == static_cast<int64_t>(a))
        parts.emplace_back(m.axes[i].sub_axis ? m.axes[i].sub_axis->first : 1, i);
    llvm::sort(parts);
    int64_t before = 1;
    for (auto [pre, i] : parts) {
      const int64_t size = m.axes[i].sub_axis ? m.axes[i].sub_axis->second : full;
      if (pre < before || size < 1 || pre % before != 0) return std::nullopt;
      if (pre != before) {
        rest.push_back(static_cast<int64_t>(sizes.size()));
        sizes.push_back(pre / before);
      }
      grouped[i] = static_cast<int64_t>(sizes.size());
      sizes.push_back(size);
      before = pre * size;
    }
    if (full < 1 || full % before != 0) return std::nullopt;
    rest.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(full / before);
  }
  if (llvm::is_contained(grouped, -1)) return std::nullopt;
  const int64_t count = BoundedProduct(sizes);
  if (count < 0 || count > kMaxExpanded) return std::nullopt;
  const std::vector<int64_t> devices = MeshDevices(m.mesh, count);
  if (static_cast<int64_t>(devices.size()) != count) return std::nullopt;
  int64_t group_size = 1;
  for (int64_t g : grouped) group_size *= sizes[static_cast<size_t>(g)];
  Dims permutation(rest.begin(), rest.end());
  permutation.append(grouped.begin(), grouped.end());
  std::vector<Dims> groups;
  for (int64_t position : TransposedIota(sizes, permutation)) {
    if (groups.empty() || static_cast<int64_t>(groups.back().size()) == group_size) groups.emplace_back();
    groups.back().push_back(devices[static_cast<size_t>(position)]);
  }
  return groups;
}

}  // namespace

void Canonicalize(IotaDevices& iota) {
  if (!IsWellFormed(iota)) return;
  // In transposed order, drop sizes of 1 and merge neighbours that are neighbours in memory too.
  StridedDims merged;
  for (const Strided& d : ToStrided(iota)) {
    if (d.size == 1) continue;
    if (!merged.empty() && merged.back().stride == d.stride * d.size) {
      merged.back().size *= d.size;
      merged.back().stride = d.stride;
    } else {
      merged.push_back(d);
    }
  }
  if (merged.empty()) merged.push_back({1, 1});
  llvm::SmallVector<size_t, 8> order(merged.size());
  std::iota(order.begin(), order.end(), size_t{0});
  llvm::sort(order, [&](size_t a, size_t b) { return merged[a].stride > merged[b].stride; });
  iota.reshape_dims.clear();
  iota.permutation.resize(merged.size());
  for (size_t i = 0; i < order.size(); ++i) {
    iota.reshape_dims.push_back(merged[order[i]].size);
    iota.permutation[order[i]] = static_cast<int64_t>(i);
  }
}

std::vector<int64_t> Expand(const IotaDevices& iota) {
  if (!IsWellFormed(iota) || BoundedProduct(iota.reshape_dims) > kMaxExpanded) return {};
  return TransposedIota(iota.reshape_dims, iota.permutation);
}

void Canonicalize(Sharding& sharding) {
  for (Sharding& element : sharding.elements) Canonicalize(element);
  if (sharding.kind == ShardingKind::Tiled) CanonicalizeTiles(sharding);
}

std::optional<std::vector<Dims>> Expand(const ReplicaGroups& groups) {
  if (groups.iota) return Groups(groups.iota->devices, groups.iota->group_count, groups.iota->group_size);
  if (groups.mesh) return Groups(*groups.mesh);
  return groups.groups;
}

}  // namespace hlo
