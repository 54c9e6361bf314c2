// Which devices of a collective form groups (ops-structured §12.1).
#pragma once
#include <optional>

#include "ir/instruction.h"
#include "ir/support/result.h"

namespace hlo {

/// What the ids in replica_groups count.
enum class GroupMode : uint8_t { CrossReplica, CrossPartition, CrossReplicaAndPartition, FlattenedId };
llvm::StringRef ToString(GroupMode mode);

/// The group attributes of a collective, whatever its attribute struct.
struct GroupAttrs {
  const ReplicaGroups* groups = nullptr;
  std::optional<int64_t> channel_id;
  bool has_global_ids = false;  // the op has use_global_device_ids
  bool use_global_device_ids = false;
};
/// Nothing for ops without replica groups.
std::optional<GroupAttrs> GroupAttrsOf(const Instruction& inst);

/// The mode that channel and use_global_device_ids select; an error for global ids without channel.
Result<GroupMode> GroupModeOf(const Instruction& inst, const GroupAttrs& attrs);

/// Number of ids a module with this configuration has in the mode: R, P or R·P (saturated).
int64_t DeviceCount(const Module& module, GroupMode mode);

/// Number of groups and of ids of the first group as written. Axes that the mesh does not have and
/// products beyond 64 bits give nothing.
struct WrittenGroups {
  int64_t count = 0, size = 0, ids = 0;
  bool equal = true;  // all groups have one size
};
std::optional<WrittenGroups> CountGroups(const ReplicaGroups& groups);

/// Members of one group as the shape rules need it; nothing if the module does not say how many devices
/// there are: no groups are written and the count of the mode is 1, which stands for "not configured".
Result<std::optional<int64_t>> GroupSize(const Instruction& inst);

}  // namespace hlo
