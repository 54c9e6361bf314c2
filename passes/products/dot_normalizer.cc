// dot_normalizer: dots without contracting dimension get one of size 1 (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: both operands are reshaped to end with a dimension of size 1, which is contracted. Left alone:
// dots with contracting dimensions, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

Instruction* AddContraction(const Instruction& dot, Maker make) {
  DotAttrs attrs = dot.attr<DotAttrs>();
  Instruction* operands[2];
  for (const int64_t side : {0, 1}) {
    Instruction* x = dot.operand(side);
    (side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims).push_back(x->shape().rank());
    operands[side] = make.Reshape(x, Joined({x->shape().dims(), {1}}));
  }
  return MakeDotLike(make, dot, operands[0], operands[1], std::move(attrs));
}

Result<bool> RunDotNormalizer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return inst.kind() == OpKind::Dot && HasStaticArrays(inst) &&
               inst.attr<DotAttrs>().lhs_contracting_dims.empty();
      },
      [](Instruction* inst) -> Result<Instruction*> { return AddContraction(*inst, Maker(inst)); });
}

}  // namespace

HLO_DEFINE_PASS(DotNormalizer, NoPassOptions);

}  // namespace hlo
