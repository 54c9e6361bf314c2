// The larger and the smaller of two floats.
#pragma once
#include "llvm/IR/IRBuilder.h"

namespace hlo::codegen {

/// Of two scalars or vectors of f32 or f64, as llvm.maximum and llvm.minimum: NaN if either is one, with
/// unspecified bits; -0 is less than 0.
llvm::Value* EmitExtreme(llvm::IRBuilderBase& b, bool maximum, llvm::Value* x, llvm::Value* y);

}  // namespace hlo::codegen
