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

// §8.3. XLA's compilers refuse what states are not, its verifier does not, nor that there is no new state;
// its bits are those of floats, too.
Result<Shape> InferRngBitGenerator(const Instruction& inst, const InferOptions&) {
  const Shape& state = inst.operand(0)->shape();
  const Shape& shape = inst.shape();
  HLO_CHECK_OK(CheckArray(inst, 0));
  const bool three_fry = inst.attr<RngBitGeneratorAttrs>().algorithm == RngAlgorithm::ThreeFry;
  if (state.element_type() != ElementType::U64 || state.rank() != 1 ||
      !(SizesAgree(state.dim(0), 2) || (!three_fry && state.dim(0) == 3)))
    return OperandError("verify-operand-shape", inst, 0, "the state of {0} is {1}, but must be {2}",
                        Name(inst), state, three_fry ? "u64[2]" : "u64[2] or u64[3]");
  if (!shape.IsTuple() || shape.tuple_size() != 2 || !shape.tuple_shape(1).IsArray() ||
      !Compatible(shape.tuple_shape(0), state))
    return OperandError("verify-shape", inst, 0,
                        "{0} is declared {1}, but rng-bit-generator of {2} makes the new state and an array",
                        Name(inst), shape, state);
  const Shape& bits = shape.tuple_shape(1);
  if (!IsIntegral(bits.element_type()) && !IsFloat(bits.element_type()))
    return RuleError("verify-shape", inst, "the bits of {0} are {1}, but must be integers or floats",
                     Name(inst), bits);
  return shape;
}

Result<Shape> InferRngGetAndUpdateState(const Instruction& inst, const InferOptions&) {
  return ArrayResult(inst, ElementType::U64, {2});
}

}  // namespace hlo
