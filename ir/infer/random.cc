// Shape rules of random number ops (ops-structured §8).
#include "ir/infer/check.h"

namespace hlo {

Result<Shape> InferRng(const Instruction& inst, const InferOptions&) {
  const Shape& shape = inst.shape();
  if (inst.operand_count() != 2)
    return RuleError("verify-operand-count", inst, "{0} has {1} operands, but rng takes 2", Name(inst),
                     inst.operand_count());
  if (!shape.IsArray())
    return RuleError("verify-shape", inst, "{0} is declared {1}, but rng makes an array", Name(inst), shape);
  for (int64_t i = 0; i < 2; ++i) {
    const Shape& operand = inst.operand(i)->shape();
    if (!operand.IsScalarOf(shape.element_type()))
      return OperandError("verify-operand-shape", inst, i,
                          "operand {0} of {1} is {2}, but must be a scalar of the type of {3}", i, Name(inst),
                          operand, shape);
  }
  const Distribution distribution = inst.attr<RngAttrs>().distribution;
  const ElementType type = shape.element_type();
  const bool fits = distribution == Distribution::Uniform  ? !IsComplex(type)
                    : distribution == Distribution::Normal ? IsFloat(type)
                                                           : false;
  if (!fits)
    return RuleError("verify-attribute", inst, "{0} draws {1} with distribution={2}, which there is not",
                     Name(inst), shape, ToString(distribution));
  return shape;
}

// §8.3. State sizes and bit widths are the evaluator's business, as they are the compiler's in XLA.
Result<Shape> InferRngBitGenerator(const Instruction& inst, const InferOptions&) {
  const Shape& state = inst.operand(0)->shape();
  const Shape& shape = inst.shape();
  HLO_CHECK_OK(CheckArray(inst, 0));
  if (shape.IsArray()) return shape;
  if (!shape.IsTuple() || shape.tuple_size() != 2 || !shape.tuple_shape(1).IsArray() ||
      !Compatible(shape.tuple_shape(0), state))
    return OperandError("verify-shape", inst, 0,
                        "{0} is declared {1}, but rng-bit-generator of {2} makes the new state and an array",
                        Name(inst), shape, state);
  return shape;
}

Result<Shape> InferRngGetAndUpdateState(const Instruction& inst, const InferOptions&) {
  return ArrayResult(inst, ElementType::U64, {2});
}

}  // namespace hlo
