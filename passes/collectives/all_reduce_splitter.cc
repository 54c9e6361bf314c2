// all-reduce-splitter: all-reduces of which only parts are kept, in two steps (passes.md §2.6).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: where a dynamic-slice keeps a part of an all-reduce among all devices, and as many devices keep
// each of the parts, the all-reduce is taken among devices that keep different parts, and what is kept once
// more among those that keep the same: the first step and the slice are what reduce-scatter-creator looks
// for. Left alone: other users, starts that are not known on each device, constrained layouts, control edges;
// under
// --strict-fp sums and products of floats, whose order changes.
#include <map>

#include "passes/analysis/device_values.h"
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// The one dimension that the dynamic-slice cuts; nothing if there is another number of them.
std::optional<int64_t> CutDim(const Instruction& slice) {
  std::optional<int64_t> cut;
  for (int64_t d = 0; d < slice.shape().rank(); ++d) {
    if (slice.operand(0)->shape().dim(d) == slice.shape().dim(d)) continue;
    if (cut) return std::nullopt;
    cut = d;
  }
  return slice.operand_count() == 1 + slice.shape().rank() ? cut : std::nullopt;
}

/// Lists of the devices that keep the same part, by the start of the part.
std::optional<std::vector<Dims>> DevicesByPart(const Instruction& slice) {
  const Instruction& reduce = *slice.operand(0);
  const std::optional<int64_t> cut = CutDim(slice);
  const auto groups = DeviceGroups(reduce);
  const auto start = cut ? DeviceValue::Of(*slice.operand(1 + *cut)) : std::nullopt;
  if (!start || !groups || groups->size() != 1) return std::nullopt;
  const int64_t partitions = slice.module()->config.num_partitions, part = slice.shape().dim(*cut),
                last = reduce.shape().dim(*cut) - part;
  std::map<int64_t, Dims> by_start;
  for (int64_t d = 0; d < static_cast<int64_t>(groups->front().size()); ++d) {
    const auto at = start->At(d / partitions, d % partitions);
    if (!at) return std::nullopt;
    by_start[std::clamp<int64_t>(*at, 0, last)].push_back(d);
  }
  std::vector<Dims> lists;
  for (auto& [at, devices] : by_start) lists.push_back(std::move(devices));
  const size_t size = lists.front().size();
  const bool splits = lists.size() > 1 && size > 1 &&
                      llvm::all_of(lists, [&](const Dims& list) { return list.size() == size; });
  return splits ? std::optional(std::move(lists)) : std::nullopt;
}

bool KeepsParts(const Instruction& inst, bool strict_fp) {
  if (inst.kind() != OpKind::DynamicSlice || !HasStaticShapes(inst)) return false;
  const Instruction& reduce = *inst.operand(0);
  const std::optional<OpKind> op = CollectiveOp(reduce);
  // Groups are written in ids that are devices.
  const bool plain = reduce.kind() == OpKind::AllReduce && op && IsPlainCollective(reduce) &&
                     reduce.users().size() == 1 && !reduce.IsRoot();
  if (!plain || (strict_fp && RoundsByOrder(*op, inst.shape().element_type()))) return false;
  const auto mode = GroupModeOf(reduce, *GroupAttrsOf(reduce));
  const bool by_device =
      mode && (*mode == GroupMode::FlattenedId ||
               (*mode == GroupMode::CrossReplica && inst.module()->config.num_partitions == 1));
  return by_device && DevicesByPart(inst);
}

Instruction* InTwoSteps(Instruction* slice) {
  Maker make(slice);
  const Instruction& reduce = *slice->operand(0);
  const std::vector<Dims> same = *DevicesByPart(*slice);
  std::vector<Dims> different(same.front().size());
  for (const Dims& list : same)
    for (size_t i = 0; i < list.size(); ++i) different[i].push_back(list[i]);
  AllReduceAttrs first = reduce.attr<AllReduceAttrs>(), second = first;
  first.replica_groups = ReplicaGroups{different, std::nullopt, std::nullopt};
  if (second.channel_id) second.channel_id = NextChannelId(make.module());
  second.replica_groups = ReplicaGroups{same, std::nullopt, std::nullopt};
  Instruction* within = make.AddWithShape(OpKind::AllReduce, reduce.shape(), {reduce.operand(0)},
                                          std::move(first), reduce.callees());
  llvm::SmallVector<Instruction*, 4> operands(slice->operands());
  operands[0] = within;
  Instruction* part = make.AddWithShape(OpKind::DynamicSlice, slice->shape(), operands, slice->attrs());
  return make.AddWithShape(OpKind::AllReduce, slice->shape(), {part}, std::move(second), reduce.callees());
}

Result<bool> RunAllReduceSplitter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return KeepsParts(inst, context.policy().strict_fp); },
      [](Instruction* inst) -> Result<Instruction*> { return InTwoSteps(inst); });
}

}  // namespace

HLO_DEFINE_PASS(AllReduceSplitter, NoPassOptions);

}  // namespace hlo
