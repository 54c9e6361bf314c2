#include "passes/analysis/side_effects.h"

namespace hlo {
namespace {

/// Bits of a computation's summary: some instruction of it, or of what it calls, ...
enum Finding : uint8_t {
  kKnown = 1,          // (nothing: the summary is there)
  kEffect = 2,         // does more than compute its value
  kChannelEffect = 4,  // does so unless the program is partitioned
  kTransfer = 8,       // sends or receives
  kLoop = 16,          // is a loop
};

/// Collectives that the op table leaves free of side effects have them under conditions (passes.md §4.3).
uint8_t ConditionalEffect(const Attrs& attrs) {
  const auto of = [](const auto& a) -> uint8_t {
    return a.constrain_layout ? kEffect : a.channel_id ? kChannelEffect : 0;
  };
  if (const auto* a = attrs.GetIf<AllReduceAttrs>()) return of(*a);
  if (const auto* a = attrs.GetIf<AllGatherAttrs>()) return of(*a);
  if (const auto* a = attrs.GetIf<ReduceScatterAttrs>()) return of(*a);
  if (const auto* a = attrs.GetIf<AllToAllAttrs>()) return of(*a);
  if (const auto* a = attrs.GetIf<CollectivePermuteAttrs>()) return a->channel_id ? kChannelEffect : 0;
  if (const auto* a = attrs.GetIf<CustomCallAttrs>()) return a->custom_call_has_side_effect ? kEffect : 0;
  return 0;
}

/// Of the instruction alone, without what it calls.
uint8_t OwnFindings(const Instruction& inst) {
  if (inst.kind() == OpKind::While) return kLoop;
  if (!inst.info().MayDoMore()) return 0;
  const uint8_t transfer = inst.attrs().GetIf<SendRecvAttrs>() != nullptr ? kTransfer : 0;
  return transfer | (inst.info().Is(kSideEffect) ? kEffect : ConditionalEffect(inst.attrs()));
}

/// Of the computation and what it calls; callees first, as calls may nest deeply.
uint8_t Findings(const Computation& computation) {
  llvm::SmallVector<const Computation*, 8> open = {&computation};
  while (!open.empty()) {
    const Computation* c = open.back();
    if (c->summary() != 0) {
      open.pop_back();
      continue;
    }
    uint8_t findings = kKnown;
    const size_t depth = open.size();
    for (const Instruction* inst : c->instructions()) {
      findings |= OwnFindings(*inst);
      for (const Computation* callee : inst->callees()) {
        if (callee->summary() == 0) open.push_back(callee);
        findings |= callee->summary();
      }
    }
    if (open.size() == depth) c->set_summary(findings);
  }
  return computation.summary();
}

uint8_t Findings(const Instruction& inst) {
  uint8_t findings = OwnFindings(inst);
  for (const Computation* callee : inst.callees()) findings |= Findings(*callee);
  return findings;
}

/// What was started and stays needs its end, even if nobody reads what that gives. An update is the last of
/// its chain only where the end has gone, for which all of the chain was looked at.
bool EndsWhatStays(const Instruction& inst) {
  if (!inst.info().Is(kDone) && inst.kind() != OpKind::AsyncUpdate) return false;
  for (const Instruction* at = &inst;;) {
    const Instruction& start = *at->operand(0);
    const bool begins = start.info().Is(kStart) || start.kind() == OpKind::AsyncUpdate;
    if (!begins || start.IsRoot() || start.users().size() > 1 || HasControlEdges(start) ||
        HasSideEffect(start))
      return true;
    if (start.kind() != OpKind::AsyncUpdate || inst.kind() == OpKind::AsyncUpdate) return false;
    at = &start;
  }
}

}  // namespace

bool HasSideEffect(const Instruction& inst) {
  const uint8_t findings = Findings(inst);
  return (findings & kEffect) != 0 ||
         ((findings & kChannelEffect) != 0 && inst.module()->config.num_partitions <= 1);
}

bool HasTransfers(const Computation& computation) { return (Findings(computation) & kTransfer) != 0; }

bool MayNotEnd(const Instruction& inst) { return (Findings(inst) & kLoop) != 0; }

bool IsSharedStart(const Instruction& tuple, int64_t i) {
  const bool stays = tuple.users().size() > 1 || tuple.IsRoot() || HasControlEdges(tuple);
  return stays && tuple.operand(i)->info().Is(kStart);
}

bool IsSharedStart(const Instruction& element) {
  const Instruction& tuple = *element.operand(0);
  const int64_t i = element.attr<GetTupleElementAttrs>().index;
  return tuple.operand(i)->info().Is(kStart) &&
         (IsSharedStart(tuple, i) || element.users().size() > 1 || element.IsRoot());
}

bool IsDead(const Instruction& inst) {
  return inst.users().empty() && inst.kind() != OpKind::Parameter && !inst.IsRoot() &&
         !HasControlEdges(inst) && !HasSideEffect(inst) && !EndsWhatStays(inst);
}

}  // namespace hlo
