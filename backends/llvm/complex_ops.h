// Elementwise opcodes with complex operands or results.
#pragma once
#include "backends/llvm/emit_ops.h"

namespace hlo::codegen {

/// Whether the opcode has an emission for these types, one of which is complex.
bool HasComplexCode(OpKind kind, ElementType operand, ElementType result);
/// The result of an operation that has code.
Emitted EmitComplexOp(const OpContext& context);

}  // namespace hlo::codegen
