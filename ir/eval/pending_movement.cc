// Ops not written yet; an op leaves this file when it gets its own.
#include "ir/eval/eval.h"

namespace hlo {

Result<Literal> EvalBitcast(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalBroadcast(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalReshape(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalDynamicReshape(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalTranspose(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalReverse(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalConcatenate(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalSlice(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalDynamicSlice(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalDynamicUpdateSlice(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalPad(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalGather(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalScatter(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalGetDimensionSize(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalSetDimensionSize(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalTuple(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalGetTupleElement(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalIdentity(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

}  // namespace hlo
