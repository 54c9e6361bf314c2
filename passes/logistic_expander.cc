#include "passes/logistic_expander.h"

#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
Result<bool> RunLogisticExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return inst.kind() == OpKind::Logistic; },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        Instruction* one = make.Full(inst->shape(), 1);
        Instruction* sum = make.Binary(OpKind::Add, one,
                                       make.Unary(OpKind::Exp, make.Unary(OpKind::Negate, inst->operand(0))));
        return make.Binary(OpKind::Divide, one, sum);
      });
}

HLO_DEFINE_PASS(LogisticExpander, NoPassOptions);

}  // namespace hlo
