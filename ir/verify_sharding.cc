// Shardings against the shapes they are attached to.
#include "ir/verify_internal.h"

namespace hlo::verify {
namespace {

/// Product of tile sizes, or nothing if one is below 1 or 64 bits do not suffice.
std::optional<int64_t> TileCount(llvm::ArrayRef<int64_t> tiles) {
  int64_t count = 1;
  for (int64_t t : tiles)
    if (t < 1 || __builtin_mul_overflow(count, t, &count)) return std::nullopt;
  return count;
}

std::optional<int64_t> DeviceCountOf(const Sharding& sharding) {
  if (sharding.device_list) return static_cast<int64_t>(sharding.device_list->size());
  if (sharding.iota) return TileCount(sharding.iota->reshape_dims);
  return std::nullopt;
}

/// A device listed twice, if there is one.
std::optional<int64_t> RepeatedDevice(const Sharding& sharding) {
  if (!sharding.device_list) return std::nullopt;
  std::vector<int64_t> sorted(*sharding.device_list);
  llvm::sort(sorted);
  auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return std::nullopt;
  return *twice;
}

void VerifyTiles(const Instruction& inst, const Sharding& sharding, const Shape& shape, Report& report) {
  const int64_t subgroups =
      sharding.replicate_last_tile_dim ? 1 : static_cast<int64_t>(sharding.subgroups.size());
  const int64_t data_dims = static_cast<int64_t>(sharding.tile_dims.size()) - subgroups;
  const int64_t rank = shape.IsArray() ? shape.rank() : 0;
  if (data_dims != rank) {
    report.Error("verify-sharding", inst,
                 "'sharding' of {0} has {1} tile dimensions {2} for data, but {3} has rank {4}", Name(inst),
                 data_dims, List(sharding.tile_dims), shape, rank);
    return;
  }
  const std::optional<int64_t> tiles = TileCount(sharding.tile_dims), devices = DeviceCountOf(sharding);
  if (!tiles || (devices && *devices != *tiles))
    report.Error("verify-sharding", inst, "'sharding' of {0} has tiles {1}, but {2} devices", Name(inst),
                 List(sharding.tile_dims), devices.value_or(0));
  else if (*tiles == 1)
    report.Error("verify-sharding", inst,
                 "'sharding' of {0} has tiles {1}, a single one; for that there is {{replicated}", Name(inst),
                 List(sharding.tile_dims));
  if (const auto device = RepeatedDevice(sharding))
    report.Error("verify-sharding", inst, "'sharding' of {0} lists device {1} twice", Name(inst), *device);
}

/// errata-2 15: devices are partitions, where it is said how many there are.
void VerifyDevices(const Instruction& inst, const Sharding& sharding, Report& report) {
  const int64_t partitions = report.module().config.num_partitions;
  if (partitions <= 1) return;
  int64_t highest = -1;
  if (sharding.kind == ShardingKind::Maximal) highest = sharding.device;
  if (sharding.device_list && !sharding.device_list->empty())
    highest = *llvm::max_element(*sharding.device_list);
  else if (sharding.iota)
    highest = DeviceCountOf(sharding).value_or(0) - 1;
  if (highest >= partitions)
    report.Error("verify-sharding", inst, "'sharding' of {0} names device {1}, but num_partitions={2}",
                 Name(inst), highest, partitions);
}

void VerifyLeaf(const Instruction& inst, const Sharding& sharding, const Shape& shape, Report& report) {
  VerifyDevices(inst, sharding, report);
  switch (sharding.kind) {
    case ShardingKind::Tuple:
      // A token, which also outfeed makes, may have one for each thing that it stands for (errata-2 14).
      if (shape.IsToken()) return;
      report.Error("verify-sharding", inst, "'sharding' of {0} is a tuple of {1}, but is attached to {2}",
                   Name(inst), sharding.elements.size(), shape);
      return;
    case ShardingKind::Tiled: return VerifyTiles(inst, sharding, shape, report);
    case ShardingKind::Mesh:
      if (const int64_t rank = shape.IsArray() ? shape.rank() : 0;
          sharding.mesh && sharding.mesh->has_dims && static_cast<int64_t>(sharding.mesh->dims.size()) > rank)
        report.Error("verify-sharding", inst, "'sharding' of {0} has {1} dimensions, but {2} has rank {3}",
                     Name(inst), sharding.mesh->dims.size(), shape, rank);
      return;
    case ShardingKind::Maximal:
      if (sharding.device < 0)
        report.Error("verify-sharding", inst, "'sharding' of {0} names device {1}, but devices start at 0",
                     Name(inst), sharding.device);
      return;
    case ShardingKind::Replicated:
    case ShardingKind::Manual:
    case ShardingKind::Unknown:
    case ShardingKind::Unreduced: return;
  }
}

}  // namespace

void VerifySharding(const Instruction& inst, Report& report) {
  const Sharding& sharding = *inst.extras().sharding;
  const Shape& shape = inst.shape();
  if (sharding.kind != ShardingKind::Tuple) {
    // One sharding for all leaves is spread over them by the parser; built IR may keep it whole.
    ForEachLeaf(shape,
                [&](const ShapeIndex&, const Shape& leaf) { VerifyLeaf(inst, sharding, leaf, report); });
    return;
  }
  if (!shape.IsTuple()) return VerifyLeaf(inst, sharding, shape, report);
  const int64_t leaves = shape.LeafCount();
  // The empty tuple has no leaf, yet one sharding.
  if (static_cast<int64_t>(sharding.elements.size()) != leaves &&
      !(leaves == 0 && sharding.elements.size() == 1)) {
    report.Error("verify-sharding", inst, "'sharding' of {0} has {1} elements, but {2} has {3} leaves",
                 Name(inst), sharding.elements.size(), shape, leaves);
    return;
  }
  size_t i = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    VerifyLeaf(inst, sharding.elements[i++], leaf, report);
  });
}

}  // namespace hlo::verify
