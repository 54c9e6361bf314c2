// Rules about the devices of collectives (ops-structured §12.1).
#include "ir/infer/groups.h"
#include "ir/verify_internal.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::verify {
namespace {

/// Bound of ids where the module does not say how many devices there are.
constexpr int64_t kManyDevices = int64_t{1} << 32;

/// Explicit ids are in 0…n-1, each at most once; n is no larger than needed.
void VerifyIds(const Instruction& inst, const ReplicaGroups& groups, int64_t n, Report& report) {
  n = std::max<int64_t>(n, 0);  // device counts may be negative
  llvm::DenseSet<int64_t> seen;
  for (const Dims& group : groups.groups) {
    if (group.empty()) {
      report.Error("verify-replica-groups", inst, "'replica_groups' of {0} hold an empty group", Name(inst));
      return;
    }
    for (int64_t id : group) {
      if (id < 0 || id >= n) {
        report.Error("verify-replica-groups", inst,
                     "'replica_groups' of {0} hold id {1}, but ids must be 0 to {2}", Name(inst), id, n - 1);
        return;
      }
      if (!seen.insert(id).second) {
        report.Error("verify-replica-groups", inst, "'replica_groups' of {0} hold id {1} twice", Name(inst),
                     id);
        return;
      }
    }
  }
}

/// The iota form lists as many ids as its groups have room for.
bool IotaFits(const ReplicaGroups::Iota& iota) {
  int64_t ids = 1, room = 0;
  for (int64_t d : iota.devices.reshape_dims)
    if (d < 1 || __builtin_mul_overflow(ids, d, &ids)) return false;
  return iota.group_count > 0 && iota.group_size > 0 &&
         !__builtin_mul_overflow(iota.group_count, iota.group_size, &room) && room == ids;
}

}  // namespace

void VerifyGroups(const Instruction& inst, Report& report) {
  if (!report.options().verify_replica_groups) return;
  const std::optional<GroupAttrs> attrs = GroupAttrsOf(inst);
  if (!attrs) return;
  const bool is_reduce = inst.attrs().GetIf<AllReduceAttrs>() != nullptr;
  if (is_reduce && attrs->channel_id && *attrs->channel_id <= 0)
    report.Error("verify-channel", inst, "'channel_id' of {0} is {1}, but must be positive", Name(inst),
                 *attrs->channel_id);
  const Result<GroupMode> mode = GroupModeOf(inst, *attrs);
  if (!mode) return report.Add(mode.error(), &inst);
  const ReplicaGroups& groups = *attrs->groups;
  const std::optional<WrittenGroups> written = CountGroups(groups);
  if (!written || (groups.iota && !IotaFits(*groups.iota))) {
    report.Error("verify-replica-groups", inst,
                 "'replica_groups' of {0} have groups and ids whose numbers do not fit together", Name(inst));
    return;
  }
  if (written->count == 0) {
    if (*mode == GroupMode::FlattenedId)
      report.Error("verify-replica-groups", inst,
                   "{0} has use_global_device_ids=true, but empty 'replica_groups'", Name(inst));
    return;
  }
  const int64_t devices = DeviceCount(report.module(), *mode);
  // Devices that stand in no group of a collective-broadcast get zeros; groups of global ids may leave
  // devices out as well (errata-2 14).
  const bool broadcast = inst.kind() == OpKind::CollectiveBroadcast;
  const bool partial = broadcast || *mode == GroupMode::FlattenedId;
  if (!groups.groups.empty())
    VerifyIds(inst, groups, !partial ? written->ids : devices != 1 ? devices : kManyDevices, report);
  if (devices != 1 && devices != written->ids && !partial)
    report.Error("verify-replica-groups", inst,
                 "'replica_groups' of {0} hold {1} ids, but {2} groups need {3}: replica_count={4}, "
                 "num_partitions={5}",
                 Name(inst), written->ids, ToString(*mode), devices, report.module().config.replica_count,
                 report.module().config.num_partitions);
  if (!written->equal && !is_reduce && !broadcast)
    report.Error("verify-replica-groups", inst,
                 "'replica_groups' of {0} have groups of different sizes, the first of {1}", Name(inst),
                 written->size);
}

// §12.2: each id at most once as source and once as target.
void VerifyPermute(const Instruction& inst, Report& report) {
  const auto& a = inst.attr<CollectivePermuteAttrs>();
  const ModuleConfig& config = report.module().config;
  const int64_t devices = a.channel_id ? config.num_partitions : config.replica_count;
  llvm::SmallVector<int64_t, 16> ids[2];
  for (const Dims& pair : a.source_target_pairs) {
    if (pair.size() != 2) {
      report.Error("verify-attribute", inst, "'source_target_pairs' of {0} hold {1}, which is no pair",
                   Name(inst), List(pair));
      return;
    }
    for (size_t side = 0; side < 2; ++side) {
      const int64_t id = pair[side];
      if (id < 0 || (devices != 1 && id >= devices))
        report.Error("verify-replica-groups", inst, "'source_target_pairs' of {0} hold id {1}, but {2}={3}",
                     Name(inst), id, a.channel_id ? "num_partitions" : "replica_count", devices);
      ids[side].push_back(id);
    }
  }
  for (size_t side = 0; side < 2; ++side) {
    llvm::sort(ids[side]);
    if (auto* twice = std::adjacent_find(ids[side].begin(), ids[side].end()); twice != ids[side].end())
      report.Error("verify-replica-groups", inst, "'source_target_pairs' of {0} have id {1} twice as {2}",
                   Name(inst), *twice, side == 0 ? "source" : "target");
  }
}

}  // namespace hlo::verify
