// Shape rules of infeed, outfeed, send and recv (ops-structured §11).
#include "ir/infer/check.h"

namespace hlo {
namespace {

Status CheckToken(const Instruction& inst, int64_t i) {
  const Shape& shape = inst.operand(i)->shape();
  if (shape.IsToken()) return {};
  return OperandError("verify-operand-type", inst, i,
                      "operand {0} of {1} is {2}, but {3} needs a token there", i, Name(inst), shape,
                      ToString(inst.kind()));
}

/// The written shape is a tuple of `count` elements, the first of which is free.
Status CheckWrittenTuple(const Instruction& inst, int64_t count, llvm::StringRef form) {
  if (inst.shape().IsTuple() && inst.shape().tuple_size() == count) return {};
  return RuleError("verify-shape", inst, "{0} is declared {1}, but {2} makes {3}", Name(inst), inst.shape(),
                   ToString(inst.kind()), form);
}

/// Operand 0 of a -done is the matching start, or a value that carries one along.
Status CheckStart(const Instruction& inst, int64_t elements, llvm::StringRef form) {
  const Shape& start = inst.operand(0)->shape();
  if (start.IsTuple() && start.tuple_size() == elements) return {};
  return OperandError("verify-async", inst, 0, "operand 0 of {0} is {1}, but {2} ends a transfer of form {3}",
                      Name(inst), start, ToString(inst.kind()), form);
}

Shape Context() { return Shape::ArrayWithDefaultLayout(ElementType::U32, {}); }

}  // namespace

Result<Shape> InferInfeed(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckToken(inst, 0));
  HLO_CHECK_OK(CheckWrittenTuple(inst, 2, "(data, token[])"));
  return TupleResult(inst, {inst.shape().tuple_shape(0), Shape::MakeToken()});
}

Result<Shape> InferOutfeed(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckToken(inst, 1));
  const Shape& data = inst.operand(0)->shape();
  const Shape& declared = inst.attr<OutfeedAttrs>().outfeed_shape;
  if (declared.valid() && !Compatible(declared, data))
    return OperandError("verify-attribute", inst, 0, "'outfeed_shape' of {0} is {1}, but its operand is {2}",
                        Name(inst), declared, data);
  return Shape::MakeToken();
}

// What operand 1 is does not matter (errata-2 14).
Result<Shape> InferSend(const Instruction& inst, const InferOptions&) {
  return TupleResult(inst, {inst.operand(0)->shape(), Context(), Shape::MakeToken()});
}

Result<Shape> InferSendDone(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckStart(inst, 3, "(data, u32[], token[])"));
  return inst.operand(0)->shape().tuple_shape(2);
}

Result<Shape> InferRecv(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckToken(inst, 0));
  HLO_CHECK_OK(CheckWrittenTuple(inst, 3, "(data, u32[], token[])"));
  return TupleResult(inst, {inst.shape().tuple_shape(0), Context(), Shape::MakeToken()});
}

Result<Shape> InferRecvDone(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckStart(inst, 3, "(data, u32[], token[])"));
  const Shape& start = inst.operand(0)->shape();
  return TupleResult(inst, {start.tuple_shape(0), start.tuple_shape(2)});
}

}  // namespace hlo
