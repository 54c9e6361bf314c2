// permutation_sort_simplifier: sorting by a permutation as scatter (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: an ascending sort of two vectors by the first one, when that one is what a sort made of an iota,
// so that its elements are 0, 1, 2, … in some order: the second vector is scattered to these places, and the
// first becomes the iota. Exact. Left alone: arrays of more dimensions, other comparators.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

/// A vector that a sort made of an iota.
bool IsPermutation(const Instruction& x) {
  if (x.kind() != OpKind::GetTupleElement || x.shape().rank() != 1 || !IsIntegral(x.shape().element_type()))
    return false;
  const Instruction& sort = *x.operand(0);
  return sort.kind() == OpKind::Sort && HasStaticShapes(sort) &&
         sort.operand(x.attr<GetTupleElementAttrs>().index)->kind() == OpKind::Iota &&
         // The numbers of the iota do not wrap.
         x.shape().dim(0) <= int64_t{1} << std::min<int>(Info(x.shape().element_type()).bits - 1, 62);
}

bool IsAscendingByFirst(const Computation& comparator) {
  const Instruction* root = comparator.root();
  if (root->kind() != OpKind::Compare) return false;
  const Instruction *x = comparator.parameter(0), *y = comparator.parameter(1);
  const Direction direction = root->attr<CompareAttrs>().direction;
  return (root->operand(0) == x && root->operand(1) == y && direction == Direction::LT) ||
         (root->operand(0) == y && root->operand(1) == x && direction == Direction::GT);
}

bool Matches(const Instruction& inst) {
  return inst.kind() == OpKind::Sort && inst.operand_count() == 2 && HasStaticShapes(inst) &&
         IsPermutation(*inst.operand(0)) && IsAscendingByFirst(*inst.callee());
}

Instruction* Simplify(Instruction* inst) {
  Maker make(inst);
  const Expr places(make, inst->operand(0)), values(make, inst->operand(1));
  const int64_t n = places.dim(0);
  Computation* last = NewComputation(make.module(), "second");
  last->set_execution_thread(make.computation().execution_thread());
  Maker inside(*last);
  const Shape scalar = Shape::ArrayWithDefaultLayout(values.type(), {});
  inside.Parameter(0, scalar, "x");
  last->set_root(inside.Parameter(1, scalar, "y"));
  ScatterAttrs attrs;
  attrs.inserted_window_dims = {0};
  attrs.scatter_dims_to_operand_dims = {0};
  attrs.index_vector_dim = 1;
  attrs.unique_indices = true;
  const Expr scattered(
      make, make.Add(OpKind::Scatter, {FullOf(make, values.type(), {n}, 0), places.Reshape({n, 1}), values},
                     attrs, {last}));
  return make.Tuple({IotaOf(make, places.type(), {n}, 0), scattered});
}

Result<bool> RunPermutationSortSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Matches,
                       [](Instruction* inst) -> Result<Instruction*> { return Simplify(inst); });
}

}  // namespace

HLO_DEFINE_PASS(PermutationSortSimplifier, NoPassOptions);

}  // namespace hlo
