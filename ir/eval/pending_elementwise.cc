// Ops not written yet; an op leaves this file when it gets its own.
#include "ir/eval/eval.h"

namespace hlo {

Result<Literal> EvalRng(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalRngBitGenerator(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalRngGetAndUpdateState(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalBatchNormTraining(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalBatchNormInference(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalBatchNormGrad(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalFft(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalCholesky(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalTriangularSolve(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

}  // namespace hlo
