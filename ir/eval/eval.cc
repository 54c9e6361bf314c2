#include "ir/eval/eval.h"

namespace hlo {

EvalFn EvalRule(OpKind kind) {
  static constexpr EvalFn kRules[] = {
#define HLO_OP(Kind, text, min, max, Attrs, Category, Traits, Types, Rounding, Shape_, Eval_) &Eval##Eval_,
#include "ir/ops.def"
  };
  return kRules[static_cast<size_t>(kind)];
}

}  // namespace hlo
