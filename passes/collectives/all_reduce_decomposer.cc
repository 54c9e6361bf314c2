// all-reduce-decomposer: everybody gets what all have, and combines it (passes.md §2.6).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: an all-reduce becomes an all-gather along a new dimension and a reduce over it. Left alone:
// reducers of more than one operation, groups of different sizes, constrained layouts, control edges; under
// --strict-fp sums and products of floats, which would be taken from zero or one.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

bool MayDecompose(const Instruction& inst, bool strict_fp) {
  if (inst.kind() != OpKind::AllReduce || !IsPlainCollective(inst) || !DeviceGroups(inst)) return false;
  const std::optional<OpKind> op = CollectiveOp(inst);
  const ElementType type = inst.shape().element_type();
  if (!op || !inst.callee()->root()->shape().IsScalarOf(type) || (strict_fp && RoundsByOrder(*op, type)))
    return false;
  // What the greatest and the least value are.
  const bool has_extremes =
      IsIntegral(type) || IsPred(type) || (IsFloat(type) && Info(type).special == FloatSpecial::Ieee);
  return has_extremes || (*op != OpKind::Maximum && *op != OpKind::Minimum);
}

Instruction* GatherAndReduce(Instruction* inst) {
  Maker make(inst);
  const auto& a = inst->attr<AllReduceAttrs>();
  AllGatherAttrs b;
  b.channel_id = a.channel_id;
  b.replica_groups = a.replica_groups;
  b.use_global_device_ids = a.use_global_device_ids;
  b.dimensions = {0};
  Dims sizes(inst->shape().dims());
  sizes.insert(sizes.begin(), 1);
  Instruction* one = make.Reshape(inst->operand(0), sizes);
  sizes[0] = static_cast<int64_t>(DeviceGroups(*inst)->front().size());
  Instruction* all =
      make.AddWithShape(OpKind::AllGather, Shape::ArrayWithDefaultLayout(inst->shape().element_type(), sizes),
                        {one}, std::move(b));
  const std::optional<Expr> init = IdentityOf(make, *CollectiveOp(*inst), inst->shape().element_type());
  return make.Reduce(all, *init, {0}, inst->callee());
}

Result<bool> RunAllReduceDecomposer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) { return MayDecompose(inst, context.policy().strict_fp); },
      [](Instruction* inst) -> Result<Instruction*> { return GatherAndReduce(inst); });
}

}  // namespace

HLO_DEFINE_PASS(AllReduceDecomposer, NoPassOptions);

}  // namespace hlo
