// Custom-call targets with a known meaning (ops-structured §10.3, errata-ops B41): what computes them.
#pragma once
#include "ir/custom_call.h"
#include "ir/eval/eval.h"

namespace hlo {

/// One built-in target.
struct CustomCallTarget {
  /// For calls that fit the signature of the target.
  EvalFn eval;
  /// How a call of it is computed, for --explain-codegen; null: there is nothing to say.
  std::string (*explain)(const Instruction& inst) = nullptr;
};
/// The built-in target of that name, or null.
const CustomCallTarget* FindCustomCallTarget(llvm::StringRef name);

/// The error of a call that does not fit its built-in target: verify-custom-call, or
/// unsupported-unpartitioned.
Status CheckCustomCall(const Instruction& inst);

#define CUSTOM_CALL(target, Evaluate, signature)                           \
  Result<Literal> Eval##Evaluate##Target(EvalContext&, const Instruction&, \
                                         llvm::MutableArrayRef<Literal> operands);
#include "ir/custom_calls.def"

}  // namespace hlo
