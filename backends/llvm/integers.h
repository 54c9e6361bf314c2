// Quotients of integers in vectors.
#pragma once
#include "llvm/IR/IRBuilder.h"

namespace hlo::codegen {

/// A number that neither division nor remainder is special for.
bool DividesAll(const llvm::Value* divisor);

/// x / y towards zero, of integers or vectors of them, or a vector by one integer; y is not 0, nor -1 where
/// it is signed. Processors do not divide vectors of integers: those of up to 32 bits go through floats,
/// which hold all of them.
llvm::Value* Quotient(llvm::IRBuilderBase& b, llvm::Value* x, llvm::Value* y, bool is_signed);
/// What is left of x, with its sign.
llvm::Value* Remainder(llvm::IRBuilderBase& b, llvm::Value* x, llvm::Value* y, bool is_signed);

}  // namespace hlo::codegen
