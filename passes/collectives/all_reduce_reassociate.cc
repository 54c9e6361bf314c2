// all-reduce-reassociate, reduce-scatter-reassociate: what is combined after two exchanges is combined before
// one (passes.md §2.6).
//
// Require nothing. Preserve flat-calls, layouts, fusions.
// Change: op(all-reduce_op(x), all-reduce_op(y)) becomes all-reduce_op(op(x, y)), reduce-scatters likewise.
// Sums of floats are taken in another order. Left alone: results with other users, other groups, reducers and
// dimensions, constrained layouts, control edges.
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// Both may be one exchange of what the user makes of their operands.
bool MayJoin(const Instruction& user, OpKind kind) {
  if (user.operand_count() != 2 || user.operand(0) == user.operand(1)) return false;
  const Instruction &a = *user.operand(0), &b = *user.operand(1);
  if (a.kind() != kind || b.kind() != kind || !IsPlainCollective(a) || !IsPlainCollective(b)) return false;
  if (a.users().size() != 1 || b.users().size() != 1 || a.IsRoot() || b.IsRoot()) return false;
  if (CollectiveOp(a) != user.kind() || CollectiveOp(b) != user.kind() || !SameGroups(a, b)) return false;
  if (kind == OpKind::ReduceScatter &&
      a.attr<ReduceScatterAttrs>().dimensions != b.attr<ReduceScatterAttrs>().dimensions)
    return false;
  return a.operand(0)->shape() == b.operand(0)->shape() && a.shape() == b.shape() &&
         user.shape() == a.shape();
}

Result<bool> Reassociate(Module& module, OpKind kind, PassContext& context) {
  bool changed = false;
  for (bool again = true; again; changed |= again) {  // joined exchanges may join with others
    HLO_TRY(again, ExpandMatches(
                       module, context, [&](const Instruction& inst) { return MayJoin(inst, kind); },
                       [](Instruction* user) -> Result<Instruction*> {
                         Maker make(user);
                         const Instruction &a = *user->operand(0), &b = *user->operand(1);
                         Instruction* both = make.AddWithShape(user->kind(), a.operand(0)->shape(),
                                                               {a.operand(0), b.operand(0)});
                         return CollectiveLike(make, a, user->shape(), {both});
                       }));
  }
  return changed;
}

Result<bool> RunAllReduceReassociate(Module& module, const NoPassOptions&, PassContext& context) {
  return Reassociate(module, OpKind::AllReduce, context);
}
Result<bool> RunReduceScatterReassociate(Module& module, const NoPassOptions&, PassContext& context) {
  return Reassociate(module, OpKind::ReduceScatter, context);
}

}  // namespace

HLO_DEFINE_PASS(AllReduceReassociate, NoPassOptions);
HLO_DEFINE_PASS(ReduceScatterReassociate, NoPassOptions);

}  // namespace hlo
