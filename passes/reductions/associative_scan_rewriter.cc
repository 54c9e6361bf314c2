// associative-scan-rewriter: associative scans as prefix reductions (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a scan with is_associative=true of one array and one carry whose body applies one commutative
// operation becomes a reduce-window over all elements up to each one, combined with the initial carry;
// reduce-window-rewriter makes a tree of a long one. Sums of floats are taken in another order, as the scan
// allows. Left alone: other scans, empty ones, dynamic shapes.
#include "passes/analysis/reducers.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/prefix.h"

namespace hlo {
namespace {

/// The operation of a body that returns op(x, carry) as output and as new carry.
std::optional<OpKind> BodyOp(const Computation& body) {
  const Instruction* root = body.root();
  if (body.parameters().size() != 2 || root->kind() != OpKind::Tuple || root->operand_count() != 2 ||
      root->operand(0) != root->operand(1))
    return std::nullopt;
  const Instruction& op = *root->operand(0);
  if (op.operand_count() != 2 || op.operand(0)->kind() != OpKind::Parameter ||
      op.operand(1)->kind() != OpKind::Parameter || op.operand(0) == op.operand(1))
    return std::nullopt;
  return op.info().Is(kMonoid) ? std::optional(op.kind()) : std::nullopt;
}

bool Matches(const Instruction& inst) {
  if (inst.kind() != OpKind::Scan || !HasStaticShapes(inst) || inst.operand_count() != 2) return false;
  const auto& attrs = inst.attr<ScanAttrs>();
  const Shape& x = inst.operand(0)->shape();
  const auto op = BodyOp(*inst.callee());
  if (!attrs.is_associative || attrs.num_carries != 1 || !op || x.ElementCount() == 0 ||
      inst.operand(1)->shape().element_type() != x.element_type() || inst.shape().tuple_size() != 2)
    return false;
  const bool selects = *op == OpKind::Maximum || *op == OpKind::Minimum;
  return !selects || !IsFloat(x.element_type()) || Info(x.element_type()).special == FloatSpecial::Ieee;
}

Instruction* Rewrite(Instruction* inst) {
  Maker make(inst);
  const auto& attrs = inst->attr<ScanAttrs>();
  const OpKind op = *BodyOp(*inst->callee());
  const Expr x(make, inst->operand(0)), init(make, inst->operand(1));
  const int64_t d = attrs.dimensions[0], n = x.dim(d);
  const Expr identity = *IdentityOf(make, op, x.type());
  Expr result = PrefixReduce(x, identity, {d, attrs.is_reverse, false}, make.ScalarComputation(op, x.type()));
  Dims kept;
  for (int64_t i = 0; i < x.shape().rank(); ++i)
    if (i != d) kept.push_back(i);
  const Instruction* scalar = ScalarOrSplat(*init.inst());
  if (!scalar || !IsIdentityOf(op, *scalar))
    result = Binary(op, init.Broadcast(x.shape().dims(), kept), result);
  const int64_t last = attrs.is_reverse ? 0 : n - 1;
  return make.Tuple({result, result.Slice(d, last, last + 1).Reshape(init.shape().dims())});
}

Result<bool> RunAssociativeScanRewriter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Matches,
                       [](Instruction* inst) -> Result<Instruction*> { return Rewrite(inst); });
}

}  // namespace

HLO_DEFINE_PASS(AssociativeScanRewriter, NoPassOptions);

}  // namespace hlo
