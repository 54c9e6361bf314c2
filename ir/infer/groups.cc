#include "ir/infer/groups.h"

#include "ir/infer/check.h"
#include "ir/module.h"

namespace hlo {
namespace {

int64_t SaturatedProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

std::optional<int64_t> MeshSize(const Mesh& mesh) {
  if (mesh.maximal_device) return 1;
  int64_t size = 1;
  for (const MeshAxis& axis : mesh.axes)
    if (__builtin_mul_overflow(size, axis.size, &size)) return std::nullopt;
  return size;
}

std::optional<WrittenGroups> CountMesh(const ReplicaGroups::MeshAxes& groups) {
  const std::optional<int64_t> all = MeshSize(groups.mesh);
  int64_t size = 1;
  for (const AxisRef& ref : groups.axes) {
    if (ref.axis < 0 || ref.axis >= static_cast<int64_t>(groups.mesh.axes.size())) return std::nullopt;
    const int64_t axis =
        ref.sub_axis ? ref.sub_axis->second : groups.mesh.axes[static_cast<size_t>(ref.axis)].size;
    if (__builtin_mul_overflow(size, axis, &size)) return std::nullopt;
  }
  if (!all || size <= 0 || *all % size != 0) return std::nullopt;
  return WrittenGroups{*all / size, size, *all, true};
}

}  // namespace

llvm::StringRef ToString(GroupMode mode) {
  static constexpr llvm::StringRef kNames[] = {"cross-replica", "cross-partition",
                                               "cross-replica-and-partition", "flattened-id"};
  return kNames[static_cast<size_t>(mode)];
}

std::optional<GroupAttrs> GroupAttrsOf(const Instruction& inst) {
  const Attrs& attrs = inst.attrs();
  auto with_global_ids = [](const auto& a) {
    return GroupAttrs{&a.replica_groups, a.channel_id, true, a.use_global_device_ids};
  };
  auto without = [](const auto& a) { return GroupAttrs{&a.replica_groups, a.channel_id, false, false}; };
  if (const auto* a = attrs.GetIf<AllReduceAttrs>()) return with_global_ids(*a);
  if (const auto* a = attrs.GetIf<AllGatherAttrs>()) return with_global_ids(*a);
  if (const auto* a = attrs.GetIf<ReduceScatterAttrs>()) return with_global_ids(*a);
  if (const auto* a = attrs.GetIf<AllToAllAttrs>()) return without(*a);
  if (const auto* a = attrs.GetIf<RaggedAllToAllAttrs>()) return without(*a);
  if (const auto* a = attrs.GetIf<CollectiveBroadcastAttrs>()) return without(*a);
  return std::nullopt;
}

Result<GroupMode> GroupModeOf(const Instruction& inst, const GroupAttrs& attrs) {
  if (!attrs.channel_id) {
    if (!attrs.use_global_device_ids) return GroupMode::CrossReplica;
    return RuleError("verify-replica-groups", inst, "{0} has use_global_device_ids=true, but no channel_id",
                     Name(inst));
  }
  if (!attrs.has_global_ids) return GroupMode::CrossPartition;
  return attrs.use_global_device_ids ? GroupMode::FlattenedId : GroupMode::CrossReplicaAndPartition;
}

int64_t DeviceCount(const Module& module, GroupMode mode) {
  const int64_t r = module.config.replica_count, p = module.config.num_partitions;
  switch (mode) {
    case GroupMode::CrossPartition: return p;
    case GroupMode::FlattenedId: return SaturatedProduct(r, p);
    case GroupMode::CrossReplica:
    case GroupMode::CrossReplicaAndPartition: return r;
  }
  llvm_unreachable("unknown mode");
}

std::optional<WrittenGroups> CountGroups(const ReplicaGroups& groups) {
  if (groups.mesh) return CountMesh(*groups.mesh);
  if (groups.iota) {
    int64_t ids = 0;
    if (__builtin_mul_overflow(groups.iota->group_count, groups.iota->group_size, &ids)) return std::nullopt;
    return WrittenGroups{groups.iota->group_count, groups.iota->group_size, ids, true};
  }
  WrittenGroups result;
  result.count = static_cast<int64_t>(groups.groups.size());
  for (const Dims& group : groups.groups) {
    const auto size = static_cast<int64_t>(group.size());
    result.ids += size;
    result.equal &= size == static_cast<int64_t>(groups.groups[0].size());
  }
  if (!groups.groups.empty()) result.size = static_cast<int64_t>(groups.groups[0].size());
  return result;
}

Result<std::optional<int64_t>> GroupSize(const Instruction& inst) {
  const std::optional<GroupAttrs> attrs = GroupAttrsOf(inst);
  HLO_TRY(const GroupMode mode, GroupModeOf(inst, *attrs));
  const std::optional<WrittenGroups> written = CountGroups(*attrs->groups);
  if (!written || written->size < 0)
    return RuleError("verify-replica-groups", inst, "'replica_groups' of {0} give no valid group size",
                     Name(inst));
  int64_t size = written->count == 0 ? DeviceCount(*inst.module(), mode) : written->size;
  if (mode == GroupMode::CrossReplicaAndPartition)
    size = SaturatedProduct(size, inst.module()->config.num_partitions);
  if (written->count == 0 && size == 1) return std::optional<int64_t>();
  return std::optional(size);
}

}  // namespace hlo
