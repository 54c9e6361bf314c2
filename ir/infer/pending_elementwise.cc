// Rules not written yet; a rule leaves this file when it gets its own.
#include "ir/infer/infer.h"

namespace hlo {

Result<Shape> InferUnary(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferAbs(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferRealImag(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferIsFinite(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferConvert(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferBitcastConvert(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferReducePrecision(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferCopy(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferBinary(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferComplex(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferStochasticConvert(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferCompare(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferSelect(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferClamp(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

}  // namespace hlo
