// Rules not written yet; a rule leaves this file when it gets its own.
#include "ir/infer/infer.h"

namespace hlo {

Result<Shape> InferAllGather(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferAllGatherStart(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferCollectiveDone(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferAllReduce(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferReduceScatter(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferAllToAll(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferRaggedAllToAll(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferCollectiveBroadcast(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferCollectivePermute(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

Result<Shape> InferCollectivePermuteStart(const Instruction& inst, const InferOptions&) {
  return Error("unsupported-op", inst.loc(), "no shape rule for '{0}' yet", ToString(inst.kind()));
}

}  // namespace hlo
