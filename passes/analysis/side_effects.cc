#include "passes/analysis/side_effects.h"

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/reachable.h"

namespace hlo {
namespace {

/// Collectives that the op table leaves free of side effects have them under conditions (passes.md §4.3).
bool HasConditionalSideEffect(const Instruction& inst) {
  const Attrs& attrs = inst.attrs();
  const bool spmd = inst.module()->config.num_partitions > 1;
  if (const auto* a = attrs.GetIf<AllReduceAttrs>()) return a->constrain_layout || (a->channel_id && !spmd);
  if (const auto* a = attrs.GetIf<AllGatherAttrs>()) return a->constrain_layout || (a->channel_id && !spmd);
  if (const auto* a = attrs.GetIf<ReduceScatterAttrs>())
    return a->constrain_layout || (a->channel_id && !spmd);
  if (const auto* a = attrs.GetIf<AllToAllAttrs>()) return a->constrain_layout || (a->channel_id && !spmd);
  if (const auto* a = attrs.GetIf<CollectivePermuteAttrs>()) return a->channel_id && !spmd;
  if (const auto* a = attrs.GetIf<CustomCallAttrs>()) return a->custom_call_has_side_effect;
  return false;
}

bool HasSideEffect(const Instruction& inst, llvm::DenseSet<const Computation*>& seen) {
  if (inst.info().Is(kSideEffect) || HasConditionalSideEffect(inst)) return true;
  for (const Computation* callee : inst.callees())
    if (seen.insert(callee).second)
      for (const Instruction* inner : callee->instructions())
        if (HasSideEffect(*inner, seen)) return true;
  return false;
}

/// What was started and stays needs its end, even if nobody reads what that gives.
bool EndsWhatStays(const Instruction& inst) {
  if (!inst.info().Is(kDone) && inst.kind() != OpKind::AsyncUpdate) return false;
  const Instruction& start = *inst.operand(0);
  if (start.kind() == OpKind::AsyncUpdate && EndsWhatStays(start)) return true;
  const bool begins = start.info().Is(kStart) || start.kind() == OpKind::AsyncUpdate;
  return !begins || start.IsRoot() || start.users().size() > 1 ||
         !start.extras().control_predecessors.empty() || !start.extras().control_successors.empty() ||
         HasSideEffect(start);
}

}  // namespace

bool HasSideEffect(const Instruction& inst) {
  if (inst.callees().empty()) return inst.info().Is(kSideEffect) || HasConditionalSideEffect(inst);
  llvm::DenseSet<const Computation*> seen;
  return HasSideEffect(inst, seen);
}

bool HasTransfers(const Computation& computation) {
  return AnyInstruction(
      computation, [](const Instruction& inst) { return inst.attrs().GetIf<SendRecvAttrs>() != nullptr; });
}

bool IsDead(const Instruction& inst) {
  return inst.users().empty() && inst.kind() != OpKind::Parameter && !inst.IsRoot() &&
         inst.extras().control_predecessors.empty() && inst.extras().control_successors.empty() &&
         !HasSideEffect(inst) && !EndsWhatStays(inst);
}

}  // namespace hlo
