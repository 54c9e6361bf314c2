// Where values come from, as messages: OriginalValueProto and OriginalValueRecoveryTableProto.
#pragma once
#include "ir/module.h"
#include "tools/proto/message.h"
#include "tools/proto/wire.h"

namespace hlo {

void WriteOrigin(ProtoWriter& out, const Origin& origin);
/// The tree of an instruction of `shape`; leaves at places that the shape lacks are problems of the message.
Origin ReadOrigin(ProtoMessage& in, const Shape& shape);

/// Error unavailable-feature for entries with a module.
Status WriteRecoveryTable(ProtoWriter& out, const Module& module);
/// Entries to the module's table, sorted by the old place as the text has them.
void ReadRecoveryTable(ProtoMessage& in, Module& module);

}  // namespace hlo
