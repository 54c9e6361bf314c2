#include "passes/rewrite/collectives.h"
#include "passes/analysis/side_effects.h"

#include <map>
#include <numeric>

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/device_values.h"
#include "passes/analysis/reducers.h"
#include "passes/rewrite/dots.h"

namespace hlo {
namespace {

constexpr int64_t kMaxDevices = 1 << 16;

/// Replicas and partitions; where the module does not say, as many replicas as groups name.
std::optional<std::pair<int64_t, int64_t>> Configuration(const Instruction& inst, GroupMode mode,
                                                         llvm::ArrayRef<Dims> groups) {
  const ModuleConfig& config = inst.module()->config;
  if (config.replica_count != 1 || config.num_partitions != 1)
    return std::pair(config.replica_count, config.num_partitions);
  int64_t replicas = 0;
  for (const Dims& group : groups) replicas += static_cast<int64_t>(group.size());
  if (mode != GroupMode::CrossReplica || replicas < 2) return std::nullopt;
  return std::pair(replicas, int64_t{1});
}

/// The ids of a group as devices; one list for each group that the written one stands for.
std::vector<Dims> Devices(const Dims& ids, GroupMode mode, int64_t replicas, int64_t partitions) {
  if (mode == GroupMode::FlattenedId) return {ids};
  const bool by_partition = mode == GroupMode::CrossPartition;
  const bool both = mode == GroupMode::CrossReplicaAndPartition;
  std::vector<Dims> lists(both ? 1 : static_cast<size_t>(by_partition ? replicas : partitions));
  for (const int64_t id : ids)
    for (int64_t other = 0; other < (by_partition ? replicas : partitions); ++other)
      lists[both ? 0 : static_cast<size_t>(other)].push_back(by_partition ? other * partitions + id
                                                                          : id * partitions + other);
  return lists;
}

Dims MemberNumbers(llvm::ArrayRef<Dims> groups) {
  size_t devices = 0;
  for (const Dims& group : groups) devices += group.size();
  Dims numbers(devices);
  for (const Dims& group : groups)
    for (size_t i = 0; i < group.size(); ++i)
      numbers[static_cast<size_t>(group[i])] = static_cast<int64_t>(i);
  return numbers;
}

}  // namespace

std::optional<OpKind> CollectiveOp(const Instruction& inst) {
  if (inst.kind() != OpKind::AllReduce && inst.kind() != OpKind::ReduceScatter) return std::nullopt;
  return ReducerOp(*inst.callee());
}

bool IsPlainCollective(const Instruction& inst) {
  bool constrained = true;
  if (const auto* reduce = inst.attrs().GetIf<AllReduceAttrs>(); inst.kind() == OpKind::AllReduce)
    constrained = reduce->constrain_layout;
  if (const auto* scatter = inst.attrs().GetIf<ReduceScatterAttrs>()) constrained = scatter->constrain_layout;
  if (const auto* gather = inst.attrs().GetIf<AllGatherAttrs>(); inst.kind() == OpKind::AllGather)
    constrained = gather->constrain_layout;
  return !constrained && inst.shape().IsArray() && inst.operand_count() == 1 &&
         inst.operand(0)->shape().IsArray() &&
         inst.operand(0)->shape().element_type() == inst.shape().element_type() &&
         !inst.shape().HasDynamicDimension() && !HasControlEdges(inst);
}

bool SameGroups(const Instruction& a, const Instruction& b) {
  const auto x = GroupAttrsOf(a), y = GroupAttrsOf(b);
  return x && y && *x->groups == *y->groups && x->channel_id.has_value() == y->channel_id.has_value() &&
         x->use_global_device_ids == y->use_global_device_ids;
}

std::optional<std::vector<Dims>> GroupLists(const Instruction& inst) {
  const auto attrs = GroupAttrsOf(inst);
  if (!attrs) return std::nullopt;
  auto groups = Expand(*attrs->groups);
  if (!groups || !groups->empty()) return groups;
  const auto mode = GroupModeOf(inst, *attrs);
  const int64_t count = mode ? DeviceCount(*inst.module(), *mode) : 0;
  if (count < 2 || count > (int64_t{1} << 16)) return std::nullopt;
  Dims all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return std::vector<Dims>{all};
}

std::optional<std::vector<Dims>> DeviceGroups(const Instruction& inst) {
  const auto attrs = GroupAttrsOf(inst);
  const auto mode = attrs ? GroupModeOf(inst, *attrs) : Result<GroupMode>(GroupMode::CrossReplica);
  auto written = attrs ? Expand(*attrs->groups) : std::nullopt;
  if (!mode || !written) return std::nullopt;
  const auto configuration = Configuration(inst, *mode, *written);
  if (!configuration) return std::nullopt;
  const auto [replicas, partitions] = *configuration;
  const int64_t devices = replicas > kMaxDevices ? kMaxDevices + 1 : replicas * partitions;
  if (devices > kMaxDevices || devices < 1) return std::nullopt;
  if (written->empty()) {
    written->emplace_back(static_cast<size_t>(DeviceCount(*inst.module(), *mode)));
    std::iota(written->front().begin(), written->front().end(), 0);
  }
  std::vector<Dims> groups;
  llvm::SmallDenseSet<int64_t, 16> seen;
  for (const Dims& ids : *written)
    for (Dims& group : Devices(ids, *mode, replicas, partitions)) {
      for (const int64_t device : group)
        if (device < 0 || device >= devices || !seen.insert(device).second) return std::nullopt;
      if (group.size() != (groups.empty() ? group : groups.front()).size()) return std::nullopt;
      groups.push_back(std::move(group));
    }
  return static_cast<int64_t>(seen.size()) == devices ? std::optional(std::move(groups)) : std::nullopt;
}

std::optional<std::vector<Dims>> ComposedGroups(const std::vector<Dims>& inner,
                                                const std::vector<Dims>& outer) {
  std::map<int64_t, const Dims*> group_of;
  for (const Dims& group : inner)
    for (const int64_t id : group)
      if (!group_of.emplace(id, &group).second) return std::nullopt;
  std::map<int64_t, Dims> united;  // by member of the outer groups
  for (const Dims& group : outer) {
    Dims all;
    for (const int64_t id : group) {
      const auto it = group_of.find(id);
      if (it == group_of.end()) return std::nullopt;
      all.append(it->second->begin(), it->second->end());
    }
    llvm::sort(all);
    if (std::adjacent_find(all.begin(), all.end()) != all.end()) return std::nullopt;  // counted twice
    for (const int64_t id : group) united[id] = all;
  }
  std::vector<Dims> groups;
  for (const auto& [id, all] : united) {
    for (const int64_t member : all)
      if (const auto it = united.find(member); it == united.end() || it->second != all) return std::nullopt;
    if (id == all.front()) groups.push_back(all);
  }
  return united.size() == group_of.size() ? std::optional(std::move(groups)) : std::nullopt;
}

Instruction* MemberIndex(Maker& make, const Instruction& inst) {
  const std::vector<Dims> groups = *DeviceGroups(inst);
  const Dims numbers = MemberNumbers(groups);
  const int64_t partitions = make.module().config.num_partitions;
  const auto devices = static_cast<int64_t>(numbers.size());
  Instruction* device = make.Add(partitions == 1 ? OpKind::ReplicaId : OpKind::PartitionId, {});
  if (partitions != 1 && partitions != devices) {
    Instruction* replica = make.Add(OpKind::ReplicaId, {});
    device = make.Binary(OpKind::Add,
                         make.Binary(OpKind::Multiply, replica, make.ScalarInt(ElementType::U32, partitions)),
                         device);
  }
  bool same = true;  // the number of the device itself
  Literal table = Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::U32, {devices}));
  for (int64_t d = 0; d < devices; ++d) {
    table.SetBits(d, static_cast<uint64_t>(numbers[static_cast<size_t>(d)]));
    same &= numbers[static_cast<size_t>(d)] == d;
  }
  if (same) return device;
  return make.Reshape(make.DynamicSlice(make.Constant(std::move(table)), {device}, {1}), Dims());
}

bool IsMemberOffset(const Instruction& scalar, const Instruction& inst, int64_t size) {
  const auto value = DeviceValue::Of(scalar);
  const auto groups = value ? DeviceGroups(inst) : std::nullopt;
  if (!groups) return false;
  const int64_t partitions = inst.module()->config.num_partitions;
  const Dims numbers = MemberNumbers(*groups);
  for (int64_t d = 0; d < static_cast<int64_t>(numbers.size()); ++d)
    if (value->At(d / partitions, d % partitions) != numbers[static_cast<size_t>(d)] * size) return false;
  return true;
}

int64_t NextChannelId(const Module& module) {
  int64_t next = 1;
  for (const auto& c : module.computations())
    for (const Instruction* inst : c->instructions())
      for (const FieldInfo& field : inst->attrs().info().fields) {
        if (!(field.flags & kChannelId)) continue;
        const auto& id = field.Get<std::optional<int64_t>>(inst->attrs().data());
        if (id && *id < std::numeric_limits<int64_t>::max()) next = std::max(next, *id + 1);
      }
  return next;
}

Instruction* CollectiveLike(Maker& make, const Instruction& like, const Shape& shape,
                            llvm::ArrayRef<Instruction*> operands) {
  return RemakeWith(make, like, shape, operands);
}

}  // namespace hlo
