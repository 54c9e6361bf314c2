// logistic-expander: logistic(x) as 1 / (1 + exp(−x)) (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: every logistic; floats of less than 32 bits are taken in f32 and rounded once.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

Result<bool> RunLogisticExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return inst.kind() == OpKind::Logistic; },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        const ElementType type = inst->shape().element_type();
        Instruction* x = make.Convert(inst->operand(0), SumType(type));
        Instruction* one = make.Full(x->shape(), 1);
        Instruction* sum =
            make.Binary(OpKind::Add, one, make.Unary(OpKind::Exp, make.Unary(OpKind::Negate, x)));
        return make.Convert(make.Binary(OpKind::Divide, one, sum), type);
      });
}

}  // namespace

HLO_DEFINE_PASS(LogisticExpander, NoPassOptions);

}  // namespace hlo
