// What values surely are by what they are made of, where that spares steps.
#pragma once
#include "ir/instruction.h"

namespace hlo::kernel {

/// Whether statements of the opcode may be `bounded` (kernel.h).
bool MayBeBounded(OpKind kind);
/// Whether that holds of the instruction: an exponential of the elements of rows less the largest of their
/// row, and what is divided that it gives, as a softmax has them.
bool HasBoundedOperand(const Instruction& inst);

}  // namespace hlo::kernel
