// Ops that whole calls of libraries do, as custom calls.
#pragma once
#include <string>

#include "ir/module.h"
#include "ir/support/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::gpu {

/// Before passes take such ops apart: fft becomes a custom call where a library is better at it
/// (PaysFftCall), cholesky and triangular-solve those of LAPACK, and what the library leaves to do is done by
/// ops around it. Attention that has gradients becomes calls (gradient_calls.h). `expected` is asked whether
/// there is a library of that name before anything is changed for it, and only then. Errors: interrupted.
Status MakeLibraryCalls(Module& module, llvm::function_ref<bool(llvm::StringRef library)> expected);

/// Which libraries a program of the module may be made for, of those that are there: `expected` is asked of
/// no others than such as MakeLibraryCalls() and SplitForLibraries() may ask it of. For keys of what is made.
std::string LibrariesFor(const Module& module, llvm::function_ref<bool(llvm::StringRef library)> expected);

}  // namespace hlo::gpu
