// Places of the parts of an instruction, found by re-scanning its source text.
#pragma once
#include "ir/instruction.h"
#include "ir/support/source.h"

namespace hlo {

// An instruction keeps the place of its name only (Instruction::loc()); these find the rest in its source
// when a message needs it. What the text does not hold (built or changed instructions, omitted shapes,
// implicit operands) yields instruction.loc(), so that a message always has a place if the instruction has
// one.

/// The written result shape without its layout; of a tuple shape the whole of it.
Loc LocateShape(const Instruction& instruction);
Loc LocateOpcode(const Instruction& instruction);
/// The whole text of operand `i`, with its shape if written.
Loc LocateOperand(const Instruction& instruction, int64_t i);
/// `name=value` of an attribute.
Loc LocateAttribute(const Instruction& instruction, llvm::StringRef name);

}  // namespace hlo
