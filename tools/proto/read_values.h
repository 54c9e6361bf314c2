// Values of instructions from messages of XLA's xla_data.proto; what values.h writes.
#pragma once
#include "ir/module.h"
#include "tools/proto/message.h"

namespace hlo {

// Each fails through the message's problems; what it returns then does not matter, but can be used.

/// Always valid. Arrays keep whether they have a layout.
Shape ReadShape(ProtoMessage& in);
/// The shapes of a ProgramShapeProto.
EntryLayout ReadProgramShape(ProtoMessage& in);
/// The value with the shape that the message gives it.
Literal ReadLiteral(ProtoMessage& in);
/// In the module's memory; null if the message is empty.
const OpMetadata* ReadMetadata(ProtoMessage& in, Module& module);
/// In canonical form.
Sharding ReadSharding(ProtoMessage& in, Module& module);
std::vector<FrontendAttribute> ReadFrontendAttributes(ProtoMessage& in);

}  // namespace hlo
