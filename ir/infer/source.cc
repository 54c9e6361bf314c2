// Shape rules of ops without data operands and of tuples (ops-elementwise §10.1).
#include "ir/infer/check.h"

namespace hlo {

Result<Shape> InferParameter(const Instruction& inst, const InferOptions&) {
  const int64_t number = inst.attr<ParameterAttrs>().number;
  if (number < 0)
    return RuleError("verify-attribute", inst, "{0} is parameter {1}, but numbers start at 0", Name(inst),
                     number);
  const auto& replication = inst.attr<ParameterAttrs>().parameter_replication;
  if (!replication.empty() && static_cast<int64_t>(replication.size()) != inst.shape().LeafCount())
    return RuleError("verify-attribute", inst,
                     "'parameter_replication' of {0} has {1} flags, but {2} has {3} leaf buffers", Name(inst),
                     replication.size(), inst.shape(), inst.shape().LeafCount());
  return inst.shape();
}

// An elided array fits any shape.
Result<Shape> InferConstant(const Instruction& inst, const InferOptions&) {
  const auto& attrs = inst.attr<ConstantAttrs>();
  const LiteralPtr& literal = attrs.literal ? attrs.literal : attrs.partial;
  if (!literal || !literal->valid() || Compatible(literal->shape(), inst.shape())) return inst.shape();
  return RuleError("verify-shape", inst, "{0} is declared {1}, but its literal is {2}", Name(inst),
                   inst.shape(), literal->shape());
}

Result<Shape> InferIota(const Instruction& inst, const InferOptions&) {
  const Shape& shape = inst.shape();
  if (!shape.IsArray() || shape.rank() == 0 || IsPred(shape.element_type()))
    return RuleError("verify-shape", inst,
                     "{0} is declared {1}, but iota makes an array of numbers of rank at least 1", Name(inst),
                     shape);
  HLO_CHECK_OK(CheckInRange(inst, "iota_dimension", inst.attr<IotaAttrs>().iota_dimension, shape.rank(),
                            "the rank of the result"));
  return shape;
}

Result<Shape> InferDeviceId(const Instruction& inst, const InferOptions&) {
  return ArrayResult(inst, ElementType::U32, {});
}

Result<Shape> InferTuple(const Instruction& inst, const InferOptions&) {
  llvm::SmallVector<Shape, 8> elements;
  elements.reserve(static_cast<size_t>(inst.operand_count()));
  for (const Instruction* operand : inst.operands()) elements.push_back(operand->shape());
  return TupleResult(inst, elements);
}

Result<Shape> InferGetTupleElement(const Instruction& inst, const InferOptions&) {
  const Shape& tuple = inst.operand(0)->shape();
  const int64_t index = inst.attr<GetTupleElementAttrs>().index;
  if (!tuple.IsTuple())
    return OperandError("verify-operand-shape", inst, 0, "{0} takes element {1} of {2}, which is no tuple",
                        Name(inst), index, tuple);
  if (index < 0 || index >= tuple.tuple_size())
    return OperandError("verify-attribute", inst, 0, "{0} takes element {1} of {2}, which has {3} elements",
                        Name(inst), index, tuple, tuple.tuple_size());
  return tuple.tuple_shape(index);
}

}  // namespace hlo
