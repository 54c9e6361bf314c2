#include "passes/zero_sized_hlo_elimination.h"

#include "passes/analysis/side_effects.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

bool MakesNothing(const Instruction& inst) {
  const Shape& shape = inst.shape();
  if (!shape.IsArray() || shape.ElementCount() != 0 || shape.HasDynamicDimension()) return false;
  if (inst.kind() == OpKind::Parameter || inst.kind() == OpKind::Constant) return false;
  return inst.info().category != OpCategory::Async && !HasSideEffect(inst);
}

}  // namespace

Result<bool> RunZeroSizedHloElimination(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, MakesNothing, [](Instruction* inst) -> Result<Instruction*> {
    return Maker(inst).Constant(Literal::Zeros(inst->shape()));
  });
}

HLO_DEFINE_PASS(ZeroSizedHloElimination, NoPassOptions);

}  // namespace hlo
