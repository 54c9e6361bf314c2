// ar-crs-combiner: a sum among partitions and then among replicas is one among all (passes.md §2.6).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: an all-reduce of an all-reduce, both sums, one with a channel and one without; movements of data,
// negations and conversions of floats to a wider type may stand between. Where the groups compose, all is
// summed at once, among groups of device numbers.
// Left alone: inner results with other users, other reducers, constrained layouts, control edges, unknown
// numbers of devices; under --strict-fp conversions, which round what is summed elsewhere.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// The sum of what it does to the parts is what it does to the sum.
bool IsLinear(const Instruction& inst, bool strict_fp) {
  if (inst.operand_count() != 1 || !inst.shape().IsArray() || HasControlEdges(inst)) return false;
  const ElementType from = inst.operand(0)->shape().element_type(), to = inst.shape().element_type();
  if (inst.info().category == OpCategory::Movement || inst.kind() == OpKind::Negate)
    return from == to && !IsPred(to);
  return inst.kind() == OpKind::Convert && !strict_fp && IsFloat(from) && IsFloat(to) &&
         Info(to).bits > Info(from).bits;
}

bool IsSum(const Instruction& inst) {
  return inst.kind() == OpKind::AllReduce && IsPlainCollective(inst) && CollectiveOp(inst) == OpKind::Add &&
         inst.operand(0)->shape() == inst.shape();
}

/// Two sums with nothing but linear operations between.
struct SumOfSums {
  Instruction *inner, *first;  // `first` reads the inner one
  std::vector<Dims> groups;    // device numbers
};
std::optional<SumOfSums> AsSumOfSums(const Instruction& outer, bool strict_fp) {
  if (!IsSum(outer)) return std::nullopt;
  const auto read_once = [](const Instruction& inst) { return inst.users().size() == 1 && !inst.IsRoot(); };
  const Instruction* first = &outer;
  Instruction* inner = outer.operand(0);
  for (; read_once(*inner) && IsLinear(*inner, strict_fp); inner = inner->operand(0)) first = inner;
  if (!read_once(*inner) || !IsSum(*inner)) return std::nullopt;
  const bool across = inner->attr<AllReduceAttrs>().channel_id.has_value() !=
                      outer.attr<AllReduceAttrs>().channel_id.has_value();
  const auto inner_groups = across ? DeviceGroups(*inner) : std::nullopt;
  const auto outer_groups = inner_groups ? DeviceGroups(outer) : std::nullopt;
  auto all = outer_groups ? ComposedGroups(*inner_groups, *outer_groups) : std::nullopt;
  if (!all) return std::nullopt;
  return SumOfSums{inner, const_cast<Instruction*>(first), std::move(*all)};
}

Instruction* SumAtOnce(Instruction* outer, const SumOfSums& sums) {
  AllReduceAttrs attrs = outer->attr<AllReduceAttrs>();
  attrs.replica_groups = {};
  attrs.replica_groups.groups = sums.groups;
  attrs.use_global_device_ids = true;
  if (!attrs.channel_id) attrs.channel_id = sums.inner->attr<AllReduceAttrs>().channel_id;
  Instruction* summed = outer->operand(0) == sums.inner ? sums.inner->operand(0) : outer->operand(0);
  if (sums.first != outer) sums.first->SetOperand(0, sums.inner->operand(0));
  return Maker(outer).AddWithShape(OpKind::AllReduce, outer->shape(), {summed}, std::move(attrs),
                                   outer->callees());
}

Result<bool> RunArCrsCombiner(Module& module, const NoPassOptions&, PassContext& context) {
  const bool strict_fp = context.policy().strict_fp;
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return AsSumOfSums(inst, strict_fp).has_value(); },
      [&](Instruction* outer) -> Result<Instruction*> {
        const auto sums = AsSumOfSums(*outer, strict_fp);
        if (!sums) return nullptr;  // its operand has been summed at once meanwhile
        Instruction* made = SumAtOnce(outer, *sums);
        if (IsDead(*sums->inner)) sums->inner->parent()->Remove(sums->inner);
        return made;
      });
}

}  // namespace

HLO_DEFINE_PASS(ArCrsCombiner, NoPassOptions);

}  // namespace hlo
