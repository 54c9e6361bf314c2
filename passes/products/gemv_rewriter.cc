// gemv-rewriter: products of matrix and vector become products of matrices (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: where one operand of a canonical dot has no free dimension and the other has one, it gets one of
// size 1, and the result is reshaped back. Left alone: products of vectors, other dots, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// [batch…, k] becomes [batch…, 1, k] on the left and [batch…, k, 1] on the right.
Instruction* AddFreeDim(const Instruction& dot, Maker make) {
  const int64_t side = RolesOf(dot, 0).free.empty() ? 0 : 1;
  DotAttrs attrs = dot.attr<DotAttrs>();
  Instruction* operands[] = {dot.operand(0), dot.operand(1)};
  Dims sizes(operands[side]->shape().dims());
  if (side == 0) {
    sizes.insert(sizes.end() - 1, 1);
    ++attrs.lhs_contracting_dims[0];
  } else {
    sizes.push_back(1);
  }
  operands[side] = make.Reshape(operands[side], sizes);
  Instruction* made = MakeDotLike(make, dot, operands[0], operands[1], std::move(attrs));
  return make.Reshape(made, dot.shape().dims());
}

Result<bool> RunGemvRewriter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return inst.kind() == OpKind::Dot && HasStaticArrays(inst) && IsCanonicalDot(inst) &&
               RolesOf(inst, 0).free.size() != RolesOf(inst, 1).free.size();
      },
      [](Instruction* inst) -> Result<Instruction*> { return AddFreeDim(*inst, Maker(inst)); });
}

}  // namespace

HLO_DEFINE_PASS(GemvRewriter, NoPassOptions);

}  // namespace hlo
