// Rules not written yet; a rule leaves this file when it gets its own.
#include "ir/infer/infer.h"

namespace hlo {

Result<Shape> InferMap(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferReduce(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferReduceWindow(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferSelectAndScatter(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferSort(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferTopK(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferScan(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferRng(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferRngBitGenerator(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferRngGetAndUpdateState(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

}  // namespace hlo
