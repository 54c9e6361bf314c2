// reduce-scatter-creator, all-gather-dynamic-slice-simplifier: what a device keeps of an exchange (passes.md
// §2.6).
//
// Require nothing. Preserve flat-calls, layouts, fusions.
// Change: a dynamic-slice that takes out of an all-reduce, on every device, the part of its own number
// becomes a reduce-scatter; one that takes such a part out of an all-gather is what the device put in. The
// start is recognised by its value on every device, however it is computed. Left alone: all-reduces with
// other users, constrained layouts, control edges, groups of different sizes.
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// The one dimension that the dynamic-slice cuts; nothing if there is another number of them.
std::optional<int64_t> CutDim(const Instruction& slice) {
  std::optional<int64_t> cut;
  const Shape &from = slice.operand(0)->shape(), &to = slice.shape();
  if (slice.operand_count() != 1 + to.rank()) return std::nullopt;
  for (int64_t d = 0; d < to.rank(); ++d) {
    if (from.dim(d) == to.dim(d)) continue;
    if (cut) return std::nullopt;
    cut = d;
  }
  return cut;
}

/// The cut dimension if the slice takes the device's own of as many equal parts as groups have members.
std::optional<int64_t> OwnPart(const Instruction& slice, OpKind exchange) {
  if (slice.kind() != OpKind::DynamicSlice || !HasStaticShapes(slice)) return std::nullopt;
  const Instruction& from = *slice.operand(0);
  if (from.kind() != exchange || !IsPlainCollective(from)) return std::nullopt;
  const std::optional<int64_t> cut = CutDim(slice);
  const auto groups = cut ? DeviceGroups(from) : std::nullopt;
  if (!groups) return std::nullopt;
  const int64_t part = slice.shape().dim(*cut), whole = from.shape().dim(*cut);
  if (part * static_cast<int64_t>(groups->front().size()) != whole) return std::nullopt;
  return IsMemberOffset(*slice.operand(1 + *cut), from, part) ? cut : std::nullopt;
}

bool IsReduceScatter(const Instruction& inst) {
  return OwnPart(inst, OpKind::AllReduce) && inst.operand(0)->users().size() == 1 &&
         !inst.operand(0)->IsRoot();
}

bool UndoesAllGather(const Instruction& inst) {
  const auto cut = OwnPart(inst, OpKind::AllGather);
  return cut && inst.operand(0)->attr<AllGatherAttrs>().dimensions == Dims{*cut} &&
         inst.operand(0)->operand(0)->shape() == inst.shape();
}

Instruction* MakeReduceScatter(Instruction* slice) {
  Maker make(slice);
  const Instruction& from = *slice->operand(0);
  const auto& a = from.attr<AllReduceAttrs>();
  ReduceScatterAttrs b;
  b.channel_id = a.channel_id;
  b.replica_groups = a.replica_groups;
  b.use_global_device_ids = a.use_global_device_ids;
  b.dimensions = {*OwnPart(*slice, OpKind::AllReduce)};
  return make.AddWithShape(OpKind::ReduceScatter, slice->shape(), {from.operand(0)}, std::move(b),
                           from.callees());
}

Result<bool> RunReduceScatterCreator(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, IsReduceScatter,
                       [](Instruction* inst) -> Result<Instruction*> { return MakeReduceScatter(inst); });
}
Result<bool> RunAllGatherDynamicSliceSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, UndoesAllGather, [](Instruction* inst) -> Result<Instruction*> {
    return inst->operand(0)->operand(0);
  });
}

}  // namespace

HLO_DEFINE_PASS(ReduceScatterCreator, NoPassOptions);
HLO_DEFINE_PASS(AllGatherDynamicSliceSimplifier, NoPassOptions);

}  // namespace hlo
