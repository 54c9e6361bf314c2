#include "passes/rewrite/collectives.h"
#include "passes/analysis/side_effects.h"

#include <numeric>

#include "passes/analysis/reducers.h"

namespace hlo {

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

Instruction* CollectiveLike(Maker& make, const Instruction& like, const Shape& shape,
                            llvm::ArrayRef<Instruction*> operands) {
  return make.AddWithShape(like.kind(), shape, operands, like.attrs(), like.callees());
}

}  // namespace hlo
