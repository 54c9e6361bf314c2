// Shardings, meshes and device groups (hlo-text §5 "sharding", "replica_groups").
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/layout.h"
#include "ir/metadata.h"

namespace hlo {

/// Device numbers `<=[reshape]T(permutation)`: iota over prod(reshape), reshaped, transposed.
struct IotaDevices {
  Dims reshape_dims;
  Dims permutation;  // same length
  bool operator==(const IotaDevices&) const = default;
};
/// Drops reshape dimensions of size 1 and merges those that stay adjacent, until stable.
void Canonicalize(IotaDevices& iota);
/// The device ids in order.
std::vector<int64_t> Expand(const IotaDevices& iota);

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};
/// `mesh['a'=2,'b'=4], device_ids=(…)` or `maximal_mesh[device_id=5]`.
struct Mesh {
  std::vector<MeshAxis> axes;
  std::optional<int64_t> maximal_device;
  std::optional<IotaDevices> iota_devices;         // device_ids=([4,2]T(1,0))
  std::optional<std::vector<int64_t>> device_ids;  // device_ids=(0,2,1,3)
  bool operator==(const Mesh&) const = default;
};
/// An axis of a mesh by number, or a part of it: `'a':(pre_size)size`.
struct AxisRef {
  int64_t axis = 0;
  std::optional<std::pair<int64_t, int64_t>> sub_axis;  // (pre_size, size)
  bool operator==(const AxisRef&) const = default;
};

enum class ReductionOp : uint8_t { Sum, Max, Min };

/// The V3 form `{mesh, spec}`.
struct MeshSharding {
  Mesh mesh;
  struct Dim {
    std::vector<AxisRef> axes;
    bool open = false;  // `?`
    bool operator==(const Dim&) const = default;
  };
  bool has_dims = false;  // false: one of the short forms was given or applies
  std::vector<Dim> dims;
  std::vector<AxisRef> replicated, unreduced, manual;
  ReductionOp unreduced_op = ReductionOp::Sum;
  bool operator==(const MeshSharding&) const = default;
};

enum class ShardingKind : uint8_t { Replicated, Maximal, Manual, Unknown, Unreduced, Tiled, Mesh, Tuple };
enum class SubgroupType : uint8_t { Maximal, Manual, Unreduced, Replicated };

/// How one value is spread over devices. Immutable once attached to an instruction.
struct Sharding {
  ShardingKind kind = ShardingKind::Replicated;
  int64_t device = 0;                               // Maximal
  Dims tile_dims;                                   // Tiled: data dims, then subgroup dims
  std::optional<std::vector<int64_t>> device_list;  // Tiled, explicit form
  std::optional<IotaDevices> iota;                  // Tiled, iota form
  bool replicate_last_tile_dim = false;             // last_tile_dim_replicate
  std::vector<SubgroupType> subgroups;              // last_tile_dims
  std::optional<MeshSharding> mesh;                 // Mesh
  std::vector<Sharding> elements;                   // Tuple
  std::optional<int64_t> shard_as, shard_like;
  std::vector<OpMetadata> metadata;
  bool has_metadata = false;                 // metadata={} was written
  ReductionOp reduction = ReductionOp::Sum;  // Unreduced kind or subgroup
  bool operator==(const Sharding&) const = default;
};
using ShardingPtr = std::shared_ptr<const Sharding>;
/// The canonical form in which shardings are kept and printed: iota lists canonicalised, subgroup
/// dimensions of size 1 dropped, those of equal type merged and sorted, a lone replicated subgroup as
/// replicate_last_tile_dim, wholly trivial tiles as the plain kind. Elements of tuples too.
void Canonicalize(Sharding& sharding);

/// `replica_groups`: explicit lists, iota form, or mesh form, printed in the form given.
struct ReplicaGroups {
  std::vector<Dims> groups;  // explicit form
  struct Iota {
    int64_t group_count = 0, group_size = 0;
    IotaDevices devices;
    bool operator==(const Iota&) const = default;
  };
  std::optional<Iota> iota;
  struct MeshAxes {
    Mesh mesh;
    std::vector<AxisRef> axes;
    bool operator==(const MeshAxes&) const = default;
  };
  std::optional<MeshAxes> mesh;
  [[nodiscard]] bool empty() const { return groups.empty() && !iota && !mesh; }
  bool operator==(const ReplicaGroups&) const = default;
};
/// The explicit list of groups, whatever the form. Empty stays empty. Forms whose sizes do not fit
/// together (the verifier's business) give no groups; a result over 2^24 ids is not expanded either.
std::optional<std::vector<Dims>> Expand(const ReplicaGroups& groups);

}  // namespace hlo
