// Text of shardings, meshes and replica groups (hlo-text §5).
#include "ir/print_internal.h"

namespace hlo {
namespace {

using namespace print_internal;
using llvm::ArrayRef;
using llvm::raw_ostream;
using llvm::StringRef;

StringRef Word(SubgroupType type) {
  static constexpr StringRef kWords[] = {"maximal", "manual", "unreduced", "replicated"};
  return kWords[static_cast<size_t>(type)];
}
StringRef Word(ReductionOp op) {
  static constexpr StringRef kWords[] = {"sum", "max", "min"};
  return kWords[static_cast<size_t>(op)];
}

void PrintNumbers(raw_ostream& os, ArrayRef<int64_t> numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) os << ',';
    os << numbers[i];
  }
}

/// `[4,2]T(1,0)`.
void PrintIota(raw_ostream& os, const IotaDevices& iota) {
  os << '[';
  PrintNumbers(os, iota.reshape_dims);
  os << ']';
  if (iota.reshape_dims.size() <= 1) return;
  os << "T(";
  PrintNumbers(os, iota.permutation);
  os << ')';
}

void PrintAxis(raw_ostream& os, const Mesh& mesh, const AxisRef& axis) {
  os << '\'';
  if (axis.axis >= 0 && static_cast<size_t>(axis.axis) < mesh.axes.size())
    os << mesh.axes[static_cast<size_t>(axis.axis)].name;
  else
    os << axis.axis;
  os << '\'';
  if (axis.sub_axis) os << ":(" << axis.sub_axis->first << ')' << axis.sub_axis->second;
}

void PrintAxes(raw_ostream& os, const Mesh& mesh, ArrayRef<AxisRef> axes, StringRef separator = ", ",
               bool open = false) {
  os << '{';
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i > 0) os << separator;
    PrintAxis(os, mesh, axes[i]);
  }
  if (open) os << (axes.empty() ? "?" : ", ?");
  os << '}';
}

/// True if `axes` is not empty and names exactly the mesh axes of size > 1 in mesh order (axes of
/// size 1 do not count).
bool CoversMesh(const Mesh& mesh, ArrayRef<AxisRef> axes) {
  if (axes.empty()) return false;
  const auto size = [&](int64_t axis) {
    return axis >= 0 && static_cast<size_t>(axis) < mesh.axes.size()
               ? mesh.axes[static_cast<size_t>(axis)].size
               : 0;
  };
  int64_t next = 0;
  for (const AxisRef& axis : axes) {
    if (size(axis.axis) == 1 && !axis.sub_axis) continue;
    while (size(next) == 1) ++next;
    if (axis.sub_axis || axis.axis != next) return false;
    ++next;
  }
  while (size(next) == 1) ++next;
  return next == static_cast<int64_t>(mesh.axes.size());
}

void PrintReduction(raw_ostream& os, const MeshSharding& m) {
  if (m.unreduced_op != ReductionOp::Sum) os << Word(m.unreduced_op);
}

/// The part after the mesh.
void PrintSpec(raw_ostream& os, const MeshSharding& m) {
  const bool no_dims = m.dims.empty();
  if (no_dims && m.replicated.empty() && m.unreduced.empty() && m.manual.empty()) {
    os << "replicated";
    return;
  }
  if (no_dims && m.replicated.empty() && m.unreduced.empty() && CoversMesh(m.mesh, m.manual)) {
    os << "manual";
    return;
  }
  if (no_dims && m.replicated.empty() && m.manual.empty() && CoversMesh(m.mesh, m.unreduced)) {
    os << "unreduced";
    if (m.unreduced_op != ReductionOp::Sum) os << '=' << Word(m.unreduced_op);
    return;
  }
  os << '[';
  for (size_t i = 0; i < m.dims.size(); ++i) {
    if (i > 0) os << ", ";
    PrintAxes(os, m.mesh, m.dims[i].axes, ", ", m.dims[i].open);
  }
  os << ']';
  if (!m.replicated.empty()) {
    os << ", replicated=";
    PrintAxes(os, m.mesh, m.replicated);
  }
  if (!m.unreduced.empty()) {
    os << ", unreduced=";
    PrintReduction(os, m);
    PrintAxes(os, m.mesh, m.unreduced);
  }
  if (!m.manual.empty()) {
    os << ", manual=";
    PrintAxes(os, m.mesh, m.manual);
  }
}

void PrintMetadataItem(raw_ostream& os, const OpMetadata& item) {
  PrintMetadata(os, item, PrintOptions{}, nullptr);
}

/// `metadata={…}`: V3 always prints a list, the older forms only for more than one item.
void PrintShardingMetadata(raw_ostream& os, const Sharding& s, StringRef separator, bool always_list) {
  if (s.metadata.empty() && !s.has_metadata) return;
  os << separator << "metadata=";
  const bool list = always_list || s.metadata.size() != 1;
  if (list) os << '{';
  for (size_t i = 0; i < s.metadata.size(); ++i) {
    if (i > 0) os << ", ";
    PrintMetadataItem(os, s.metadata[i]);
  }
  if (list) os << '}';
}

void PrintTiles(raw_ostream& os, const Sharding& s) {
  os << "devices=[";
  PrintNumbers(os, s.tile_dims);
  os << ']';
  if (s.iota) {
    os << "<=";
    PrintIota(os, *s.iota);
  } else if (s.device_list) {
    PrintNumbers(os, *s.device_list);
  }
  if (s.replicate_last_tile_dim) os << " last_tile_dim_replicate";
  if (s.subgroups.empty()) return;
  os << " last_tile_dims={";
  for (size_t i = 0; i < s.subgroups.size(); ++i) os << (i > 0 ? ", " : "") << Word(s.subgroups[i]);
  os << '}';
}

void PrintKind(raw_ostream& os, const Sharding& s) {
  switch (s.kind) {
    case ShardingKind::Replicated: os << "replicated"; return;
    case ShardingKind::Maximal: os << "maximal device=" << s.device; return;
    case ShardingKind::Manual: os << "manual"; return;
    case ShardingKind::Unknown: os << "unknown"; return;
    case ShardingKind::Unreduced: os << "unreduced"; return;
    case ShardingKind::Tiled: PrintTiles(os, s); return;
    case ShardingKind::Mesh:
    case ShardingKind::Tuple: break;
  }
  llvm_unreachable("meshes and tuples are printed elsewhere");
}

void PrintMeshSharding(raw_ostream& os, const Sharding& s, bool with_metadata) {
  PrintMesh(os, s.mesh->mesh);
  if (!s.mesh->mesh.maximal_device) {
    os << ", ";
    PrintSpec(os, *s.mesh);
  }
  if (with_metadata) PrintShardingMetadata(os, s, ", ", /*always_list=*/true);
}

}  // namespace

void print_internal::PrintMesh(raw_ostream& os, const Mesh& mesh) {
  if (mesh.maximal_device) {
    os << "maximal_mesh[device_id=" << *mesh.maximal_device << ']';
    return;
  }
  os << "mesh[";
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    os << (i > 0 ? ",'" : "'") << mesh.axes[i].name << "'=" << mesh.axes[i].size;
  os << ']';
  if (mesh.iota_devices && mesh.iota_devices->reshape_dims.size() > 1) {
    os << ", device_ids=(";
    PrintIota(os, *mesh.iota_devices);
    os << ')';
  } else if (mesh.device_ids) {
    os << ", device_ids=(";
    PrintNumbers(os, *mesh.device_ids);
    os << ')';
  }
}

void PrintSharding(raw_ostream& os, const Sharding& sharding, bool with_metadata) {
  os << '{';
  if (sharding.kind == ShardingKind::Tuple) {
    for (size_t i = 0; i < sharding.elements.size(); ++i) {
      if (i > 0 && i % 5 == 0)
        os << ", /*index=" << i << "*/";
      else if (i > 0)
        os << ", ";
      PrintSharding(os, sharding.elements[i], with_metadata);
    }
  } else if (sharding.kind == ShardingKind::Mesh) {
    PrintMeshSharding(os, sharding, with_metadata);
  } else {
    PrintKind(os, sharding);
    if (sharding.shard_as) os << " shard_as " << *sharding.shard_as;
    if (sharding.shard_like) os << " shard_like " << *sharding.shard_like;
    if (with_metadata) PrintShardingMetadata(os, sharding, " ", /*always_list=*/false);
  }
  os << '}';
}

void PrintReplicaGroups(raw_ostream& os, const ReplicaGroups& groups, bool full) {
  if (full && (groups.iota || groups.mesh)) {
    if (auto lists = Expand(groups)) {
      ReplicaGroups expanded;
      expanded.groups = std::move(*lists);
      PrintReplicaGroups(os, expanded);
      return;
    }
  }
  if (groups.iota) {
    os << '[' << groups.iota->group_count << ',' << groups.iota->group_size << "]<=";
    PrintIota(os, groups.iota->devices);
    return;
  }
  if (groups.mesh) {
    PrintMesh(os, groups.mesh->mesh);
    os << ' ';
    PrintAxes(os, groups.mesh->mesh, groups.mesh->axes, ",");
    return;
  }
  os << '{';
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    if (i > 0) os << ',';
    PrintDims(os, groups.groups[i]);
  }
  os << '}';
}

}  // namespace hlo
