// Functions of complex numbers as LLVM IR, in f64 parts.
#pragma once
#include "backends/llvm/math.h"
#include "ir/op.h"

namespace hlo::codegen {

/// Real and imaginary part: f64 or vectors of f64.
struct Parts {
  llvm::Value *re, *im;
};

/// What a function knows of its arguments: parts that were f32 have squares and quotients in range.
enum class PartRange : uint8_t { OfF32, OfF64 };

/// Computes what ir/numeric/complex_math.h defines, within a few units of the last place of |result|.
using ComplexFn = Parts (*)(Math& m, llvm::ArrayRef<Parts> x, PartRange range);

/// Null where there is none. `range` tells whether numbers are c64 or c128.
ComplexFn FindComplexMath(OpKind kind, PartRange range);

/// |z|.
llvm::Value* EmitComplexAbs(Math& m, Parts z, PartRange range);

}  // namespace hlo::codegen
