// reduce-widening: sums of narrow floats are made in F32 and rounded once, as code without lanes for narrow
// floats has to widen each element anyway.
//
// Requires nothing. Preserves flat-calls, row-major. Changes floats (fewer roundings): not with --strict-fp.
#include "ir/eval/elementwise.h"
#include "ir/op.h"
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::compile {
namespace {

/// A sum whose steps would each be rounded to a narrow type.
bool IsNarrowSum(const Instruction& inst) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras() || !IsSum(inst)) return false;
  const ElementType type = inst.shape().element_type();
  return IsFloat(type) && Info(type).bits < 32 && type != ElementType::F8E8M0FNU &&
         !inst.operand(0)->shape().HasDynamicDimension();
}

void Widen(Instruction* sum) {
  Maker make(sum);
  Instruction* x = make.Convert(sum->operand(0), ElementType::F32);
  Instruction* init = sum->operand(1);
  init = init->kind() == OpKind::Constant
             ? make.Constant(ConvertLiteral(*init->attr<ConstantAttrs>().literal, ElementType::F32))
             : make.Convert(init, ElementType::F32);
  Instruction* wide = make.Reduce(x, init, ReducedDims(*sum), OpKind::Add);
  ReplaceAndRemove(sum, make.Convert(wide, sum->shape().element_type()));
}

Result<bool> RunReduceWidening(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  if (context.policy().strict_fp) return changed;
  for (Computation* computation : context.Computations(module)) {
    std::vector<Instruction*> found;
    for (Instruction* inst : computation->instructions())
      if (IsNarrowSum(*inst)) found.push_back(inst);
    for (Instruction* sum : found) {
      if (!context.TakeRewrite()) return changed;
      Widen(sum);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ReduceWidening, NoPassOptions);

}  // namespace hlo::compile
