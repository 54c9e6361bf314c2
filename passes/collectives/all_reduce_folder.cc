// all-reduce-folder: an all-reduce of an all-reduce is one over larger groups (passes.md §2.6).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: where every group of the outer one takes each of its members from another, whole group of the
// inner one, and these unions are groups themselves, the operand is reduced over them at once. Sums of floats
// are taken in another order. Left alone: inner results with other users, other reducers, constrained
// layouts, control edges, unknown numbers of devices.
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

std::optional<std::vector<Dims>> FoldedGroups(const Instruction& outer) {
  if (outer.kind() != OpKind::AllReduce || !IsPlainCollective(outer)) return std::nullopt;
  const Instruction& inner = *outer.operand(0);
  if (inner.kind() != OpKind::AllReduce || !IsPlainCollective(inner) || inner.users().size() != 1)
    return std::nullopt;
  const auto &a = inner.attr<AllReduceAttrs>(), &b = outer.attr<AllReduceAttrs>();
  if (!CollectiveOp(outer) || CollectiveOp(inner) != CollectiveOp(outer) ||
      a.channel_id.has_value() != b.channel_id.has_value() ||
      a.use_global_device_ids != b.use_global_device_ids)
    return std::nullopt;
  const auto inner_groups = GroupLists(inner), outer_groups = GroupLists(outer);
  return inner_groups && outer_groups ? ComposedGroups(*inner_groups, *outer_groups) : std::nullopt;
}

Result<bool> RunAllReduceFolder(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (bool again = true; again; changed |= again) {  // three in a row are two after the first time
    HLO_TRY(again,
            ExpandMatches(
                module, context, [](const Instruction& inst) { return FoldedGroups(inst).has_value(); },
                [](Instruction* outer) -> Result<Instruction*> {
                  Maker make(outer);
                  const auto groups = FoldedGroups(*outer);
                  if (!groups) return nullptr;  // its operand has been folded meanwhile
                  AllReduceAttrs attrs = outer->attr<AllReduceAttrs>();
                  attrs.replica_groups = {};
                  attrs.replica_groups.groups = *groups;
                  return make.AddWithShape(OpKind::AllReduce, outer->shape(), {outer->operand(0)->operand(0)},
                                           std::move(attrs), outer->callees());
                }));
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(AllReduceFolder, NoPassOptions);

}  // namespace hlo
