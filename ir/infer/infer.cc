#include "ir/infer/infer.h"

namespace hlo {

InferFn InferRule(OpKind kind) {
  static constexpr InferFn kRules[] = {
#define HLO_OP(Kind, text, min, max, Attrs, Category, Traits, Types, Shape_, Eval) &Infer##Shape_,
#include "ir/ops.def"
  };
  return kRules[static_cast<size_t>(kind)];
}

Result<Shape> InferShape(const Instruction& inst, const InferOptions& options) {
  return InferRule(inst.kind())(inst, options);
}

}  // namespace hlo
