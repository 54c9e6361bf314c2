// The remainder of floats by integers alone.
#pragma once
#include "llvm/IR/IRBuilder.h"

namespace hlo::gpu {

/// What is left of x when y is taken off as often as it fits, of f32 or f64 or vectors of these, exact: C's
/// fmod. By a function of the module.
llvm::Value* ExactRemainder(llvm::IRBuilderBase& b, llvm::Value* x, llvm::Value* y);

}  // namespace hlo::gpu
