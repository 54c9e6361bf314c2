// Custom calls that are made of calls of LAPACK's routines.
#pragma once
#include "ir/eval/custom_call.h"

namespace hlo::lapack {

/// The name of a routine for real and for complex numbers, without the letter for the type, and the
/// attributes it is called with.
struct NamedRoutine {
  llvm::StringRef real_name, complex_name;
  std::string attributes = "{}";
};

/// Runs `lapack_?<name>_ffi` on the operands, whose matrices lie in memory as in `shapes`, for the call
/// `inst`; the type is that of the first operand. `result` says how results lie. Errors: those of the
/// routine's call, at `inst`.
Result<Literal> RunNamed(EvalContext& context, const Instruction& inst,
                         llvm::MutableArrayRef<Literal> operands, llvm::ArrayRef<Shape> shapes,
                         const NamedRoutine& routine, const Shape& result);

}  // namespace hlo::lapack
