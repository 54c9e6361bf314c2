// Elementwise opcodes in LLVM IR, on scalars and vectors alike.
#pragma once
#include "backends/kernel/kernel.h"
#include "backends/llvm/types.h"

namespace hlo::codegen {

/// One operation to emit. All operands are vectors of one width, or all scalars.
struct OpContext {
  llvm::IRBuilderBase& b;
  const kernel::OpStmt& op;
  llvm::ArrayRef<Emitted> operands;
  llvm::ArrayRef<ElementType> types;  // of the operands
  bool only_stored = false;           // the result goes into memory, in its stored form, and nowhere else
  llvm::Value* subtracted = nullptr;  // a scalar that the first operand is a vector less it; null: unknown
  [[nodiscard]] llvm::Value* x(size_t i = 0) const { return operands[i].compute; }
  [[nodiscard]] ElementType type() const { return types[0]; }
};

/// Whether the opcode has an emission for these types.
bool HasCode(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result);
/// The result of an operation that has code.
Emitted EmitOp(const OpContext& context);

/// Transcendental functions in the compute form of their type (f32 or f64); null where there is none.
using MathFn = llvm::Value* (*)(llvm::IRBuilderBase& b, llvm::ArrayRef<llvm::Value*> operands);
MathFn FindMath(OpKind kind, bool f64);
/// A function that FindMath() has, of f32 operands that are f16 or bf16 (`narrow`): a f32 that rounds to the
/// narrow number nearest to the exact result.
llvm::Value* EmitMathFor(ElementType narrow, OpKind kind, llvm::IRBuilderBase& b,
                         llvm::ArrayRef<llvm::Value*> operands);
/// exp(x) of f32 or f64, x at most 0, or NaN: the latter only where what was `subtracted` in x is not finite
/// (a scalar; null: unknown).
llvm::Value* EmitBoundedExp(llvm::IRBuilderBase& b, llvm::Value* x, llvm::Value* subtracted);

}  // namespace hlo::codegen
