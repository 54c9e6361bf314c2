// Ops that whole calls of libraries do, as custom calls.
#pragma once
#include "ir/module.h"
#include "ir/support/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::gpu {

/// Before passes take such ops apart: fft becomes a custom call where a library is better at it
/// (PaysFftCall), cholesky and triangular-solve those of LAPACK, and what the library leaves to do is done by
/// ops around it. `expected` is asked whether there is a library of that name before anything is changed for
/// it, and only then. Errors: interrupted.
Status MakeLibraryCalls(Module& module, llvm::function_ref<bool(llvm::StringRef library)> expected);

}  // namespace hlo::gpu
