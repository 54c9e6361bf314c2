// all-gather-pad-ds-simplifier: of what is gathered and padded, the part that a device cuts out is sent to it
// (passes.md §2.6).
//
// Requires nothing. Preserves flat-calls, fusions, layouts.
// Changes: a dynamic-slice of as many elements as a device gave, at the number of the device among the
// members of its group times that, out of an all-gather padded by whole parts along the gathered dimension,
// becomes a collective-permute of what the device gave, and the padding where no part comes. Left alone:
// other padding, groups of replicas and partitions at once, constrained layouts, control edges.
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

/// dynamic-slice(pad(all-gather)), the padding being `shift` parts in front.
struct OwnPart {
  const Instruction *pad, *gather;
  int64_t dimension, shift;
  std::vector<Dims> groups;  // of devices
};

bool IsWhole(const Instruction& slice, int64_t d) {
  return slice.shape().dim(d) == slice.operand(0)->shape().dim(d);
}

/// Only dimension `d` is padded, with `low` elements in front, none between.
std::optional<int64_t> LowPadding(const Instruction& pad, int64_t d) {
  const Padding& padding = pad.attr<PadAttrs>().padding;
  for (int64_t i = 0; i < pad.shape().rank(); ++i) {
    const PaddingDim& p = padding[static_cast<size_t>(i)];
    if (p.interior != 0 || p.low < 0 || p.high < 0 || (i != d && (p.low != 0 || p.high != 0)))
      return std::nullopt;
  }
  return padding[static_cast<size_t>(d)].low;
}

std::optional<OwnPart> AsOwnPart(const Instruction& inst) {
  if (inst.kind() != OpKind::DynamicSlice || inst.operand_count() != 1 + inst.shape().rank() ||
      !HasStaticShapes(inst) || HasControlEdges(inst))
    return std::nullopt;
  const Instruction* pad = inst.operand(0);
  const Instruction* gather = pad->kind() == OpKind::Pad ? pad->operand(0) : nullptr;
  if (!gather || gather->kind() != OpKind::AllGather || !IsPlainCollective(*gather) || HasControlEdges(*pad))
    return std::nullopt;
  const Dims& dims = gather->attr<AllGatherAttrs>().dimensions;
  if (dims.size() != 1 || gather->operand(0)->shape().dims() != inst.shape().dims()) return std::nullopt;
  const int64_t d = dims[0], part = inst.shape().dim(d);
  const auto low = LowPadding(*pad, d);
  if (!low || part == 0 || *low % part != 0) return std::nullopt;
  for (int64_t i = 0; i < inst.shape().rank(); ++i)
    if (i != d && !IsWhole(inst, i)) return std::nullopt;
  const ModuleConfig& config = inst.module()->config;
  const bool by_partition = gather->attr<AllGatherAttrs>().channel_id.has_value();
  if (by_partition ? config.replica_count != 1 : config.num_partitions != 1) return std::nullopt;
  auto groups = DeviceGroups(*gather);
  if (!groups || !IsMemberOffset(*inst.operand(1 + d), *gather, part)) return std::nullopt;
  return OwnPart{pad, gather, d, *low / part, std::move(*groups)};
}

Instruction* Sent(Instruction* inst) {
  const OwnPart own = *AsOwnPart(*inst);
  Maker make(inst);
  Instruction* part = own.gather->operand(0);
  if (own.shift == 0) return part;
  CollectivePermuteAttrs attrs;
  int64_t members = 0;
  for (const Dims& group : own.groups) {
    members = static_cast<int64_t>(group.size());
    for (int64_t i = own.shift; i < members; ++i)
      attrs.source_target_pairs.push_back(
          {group[static_cast<size_t>(i - own.shift)], group[static_cast<size_t>(i)]});
  }
  const Expr value(make, own.pad->operand(1));
  const Expr padding = value.Broadcast(part->shape().dims(), {});
  if (attrs.source_target_pairs.empty()) return padding;
  if (own.gather->attr<AllGatherAttrs>().channel_id) attrs.channel_id = NextChannelId(make.module());
  Instruction* sent = make.Add(OpKind::CollectivePermute, {part}, std::move(attrs));
  if (IsAll(*own.pad->operand(1), 0)) return sent;  // as is what comes from nobody
  const Expr member(make, MemberIndex(make, *own.gather));
  return Select(Lt(member, Expr(own.shift)).Broadcast(part->shape().dims(), {}), padding, Expr(make, sent));
}

Result<bool> RunAllGatherPadDsSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return AsOwnPart(inst).has_value(); },
      [](Instruction* inst) -> Result<Instruction*> { return Sent(inst); });
}

}  // namespace

HLO_DEFINE_PASS(AllGatherPadDsSimplifier, NoPassOptions);

}  // namespace hlo
