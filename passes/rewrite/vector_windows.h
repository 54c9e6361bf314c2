// Windows over vectors as windows over matrices of one column.
#pragma once
#include "ir/instruction.h"
#include "ir/support/result.h"

namespace hlo {

/// A reduce-window of rank 1 and static shapes, with any number of operands.
bool HasVectorWindows(const Instruction& inst);
/// What computes the same on reshapes of rank 2.
Result<Instruction*> WithMatrixWindows(Instruction* inst);

}  // namespace hlo
