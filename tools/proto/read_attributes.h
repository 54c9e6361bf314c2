// Attributes from HloInstructionProto, by the table that writing uses.
#pragma once
#include "ir/module.h"
#include "tools/proto/message.h"

namespace hlo {

/// The attributes of an instruction of that kind; incomplete after an error.
Attrs ReadAttributes(ProtoMessage& in, OpKind kind, Module& module);

}  // namespace hlo
