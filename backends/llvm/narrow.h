// Narrow floating formats in LLVM IR, bit by bit as ir/numeric/float_format.h has them.
#pragma once
#include "backends/llvm/types.h"

namespace hlo::codegen {

/// Whether values of the type are codes of at most 8 bits, a byte each.
bool IsByteFloat(ElementType type);
/// Codes (i8) to f32; exact.
llvm::Value* DecodeByteFloat(llvm::IRBuilderBase& b, ElementType type, llvm::Value* codes);
/// f32 to the nearest code: ties to even; overflow, NaN and zeros by the format's rules.
llvm::Value* EncodeByteFloat(llvm::IRBuilderBase& b, ElementType type, llvm::Value* x);
/// f64 to an f32 from which rounding to a type of at most 22 bits of precision is right: truncated, the last
/// bit set if anything was lost.
llvm::Value* RoundToOdd(llvm::IRBuilderBase& b, llvm::Value* x);
/// reduce-precision of codes of any floating type, as integers of their width.
llvm::Value* ReducePrecisionOf(llvm::IRBuilderBase& b, ElementType type, llvm::Value* codes,
                               int64_t exponent_bits, int64_t mantissa_bits);

}  // namespace hlo::codegen
