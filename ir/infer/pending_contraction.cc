// Rules not written yet; a rule leaves this file when it gets its own.
#include "ir/infer/infer.h"

namespace hlo {

Result<Shape> InferDot(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferRaggedDot(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferScaledDot(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferConvolution(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferFft(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferCholesky(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferTriangularSolve(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferBatchNormTraining(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferBatchNormInference(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferBatchNormGrad(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

}  // namespace hlo
