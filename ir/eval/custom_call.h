// Custom-call targets with a known meaning (ops-structured §10.3, errata-ops B41).
#pragma once
#include "ir/eval/eval.h"

namespace hlo {

/// One built-in target.
struct CustomCallTarget {
  llvm::StringRef name;
  EvalFn eval;
  /// How a call of it is computed, for --explain-codegen; null: there is nothing to say.
  std::string (*explain)(const Instruction& inst) = nullptr;
};
/// The built-in target of that name, or null.
const CustomCallTarget* FindCustomCallTarget(llvm::StringRef name);
llvm::ArrayRef<CustomCallTarget> AllCustomCallTargets();

/// The LAPACK part of the table (`lapack_*_ffi`, `Qr`, `Eigh`, …).
llvm::ArrayRef<CustomCallTarget> LapackTargets();

}  // namespace hlo
