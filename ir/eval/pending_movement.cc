// Ops not written yet; an op leaves this file when it gets its own.
#include "ir/eval/eval.h"

namespace hlo {

Result<Literal> EvalGather(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

Result<Literal> EvalScatter(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return Error("unsupported-op", inst.loc(), "cannot evaluate '{0}' yet", ToString(inst.kind()));
}

}  // namespace hlo
