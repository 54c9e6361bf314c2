// dot_decomposer: brings dots into canonical form (passes.md §4.9).
//
// Requires nothing. Preserves flat-calls, fusions. Establishes canonical-dots.
// Changes: operands are transposed to [batch…, free…, contracting…] (left) and [batch…, contracting…, free…]
// (right), free and contracting dimensions merged into one each by reshapes (a product of size 1 of free ones
// is left out), the result reshaped back. Left alone: dots whose batch dimensions lead in equal order, with
// one contracting and at most one free dimension per side; dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

/// Merges free and contracting dimensions of one operand; `free_first`: [batch…, free, contracting].
Instruction* CanonicalOperand(Maker& make, const Instruction& dot, int64_t side, bool free_first) {
  Instruction* x = dot.operand(side);
  const DotRoles roles = RolesOf(dot, side);
  const int64_t free = ProductOf(x->shape(), roles.free);
  const int64_t contracting = ProductOf(x->shape(), roles.contracting);
  const Dims order = free_first ? Joined({roles.batch, roles.free, roles.contracting})
                                : Joined({roles.batch, roles.contracting, roles.free});
  Dims sizes = SizesOf(x->shape(), roles.batch);
  if (free_first && free != 1) sizes.push_back(free);
  sizes.push_back(contracting);
  if (!free_first && free != 1) sizes.push_back(free);
  return ReshapeIfNeeded(make, TransposeIfNeeded(make, x, order), sizes);
}

Instruction* Decompose(const Instruction& dot, Maker make) {
  Instruction* lhs = CanonicalOperand(make, dot, 0, /*free_first=*/true);
  Instruction* rhs = CanonicalOperand(make, dot, 1, /*free_first=*/false);
  const auto batch = static_cast<int64_t>(dot.attr<DotAttrs>().lhs_batch_dims.size());
  DotAttrs attrs;
  attrs.lhs_batch_dims = attrs.rhs_batch_dims = Range(0, batch);
  attrs.lhs_contracting_dims = {lhs->shape().rank() - 1};
  attrs.rhs_contracting_dims = {batch};
  return ReshapeIfNeeded(make, MakeDotLike(make, dot, lhs, rhs, std::move(attrs)), dot.shape().dims());
}

Result<bool> RunDotDecomposer(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    for (Instruction* dot : llvm::make_early_inc_range(c->instructions())) {
      if (dot->kind() != OpKind::Dot || IsCanonicalDot(*dot) || !HasStaticArrays(*dot)) continue;
      if (!context.TakeRewrite()) return changed;
      ReplaceAndRemove(dot, Decompose(*dot, Maker(dot)));
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(DotDecomposer, NoPassOptions);

}  // namespace hlo
