// Instructions as HloInstructionProto; where attributes lie stands in instruction_fields.def.
#pragma once
#include "llvm/ADT/DenseMap.h"
#include "tools/proto/values.h"

namespace hlo {

/// Numbers by which messages name computations and instructions.
struct ProtoIds {
  llvm::DenseMap<const Computation*, int64_t> computations;
  llvm::DenseMap<const Instruction*, int64_t> instructions;
};

/// Error unavailable-feature for attributes that have no place in the message.
Status WriteProto(ProtoWriter& out, const Instruction& instruction, const ProtoIds& ids);

/// FrontendAttributes: a map of texts.
void WriteFrontendAttributes(ProtoWriter& out, llvm::ArrayRef<FrontendAttribute> attributes);

}  // namespace hlo
