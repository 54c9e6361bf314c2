// Ops not written yet; an op leaves this file when it gets its own.
#include "ir/eval/eval.h"

namespace hlo {

Result<Literal> EvalParameter(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalConstant(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalDeviceId(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalWhile(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalConditional(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalCall(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalCustomCall(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalAfterAll(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalCopyStart(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalCopyDone(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalAsyncStart(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalAsyncUpdate(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalAsyncDone(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalInfeed(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalOutfeed(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalSend(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalSendDone(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalRecv(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalRecvDone(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalAllGather(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalCollectiveDone(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalAllReduce(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalReduceScatter(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalAllToAll(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalRaggedAllToAll(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalCollectiveBroadcast(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalCollectivePermute(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

}  // namespace hlo
