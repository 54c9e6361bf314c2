// Rules not written yet; a rule leaves this file when it gets its own.
#include "ir/infer/infer.h"

namespace hlo {

Result<Shape> InferBitcast(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferBroadcast(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferReshape(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferDynamicReshape(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferTranspose(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferReverse(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferConcatenate(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferSlice(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferDynamicSlice(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferDynamicUpdateSlice(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferPad(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferGetDimensionSize(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferSetDimensionSize(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferTuple(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferGetTupleElement(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferParameter(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferConstant(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferIota(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferDeviceId(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

}  // namespace hlo
