// Instructions from HloInstructionProto; where attributes lie stands in instruction_fields.def.
#pragma once
#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "tools/proto/message.h"

namespace hlo {

/// Adds an instruction to `to`, less what refers to other instructions: operands and control predecessors.
/// Null after an error. `computations`: those of the module by their ids.
Instruction* ReadInstruction(ProtoMessage& in, Computation& to,
                             const llvm::DenseMap<int64_t, Computation*>& computations);
/// Adds what refers to instructions, given by their ids.
void ReadReferences(ProtoMessage& in, Instruction& inst,
                    const llvm::DenseMap<int64_t, Instruction*>& instructions);

/// A name that text can hold: other characters become '_', as XLA has it. In the module's memory.
llvm::StringRef ReadName(llvm::StringRef name, Module& module);

}  // namespace hlo
