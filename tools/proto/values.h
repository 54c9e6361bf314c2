// Values of instructions as messages of XLA's xla_data.proto.
#pragma once
#include "ir/module.h"
#include "ir/support/result.h"
#include "tools/proto/wire.h"

namespace hlo {

void WriteProto(ProtoWriter& out, const Shape& shape);
/// ProgramShapeProto: parameters, result, and the names of the parameters.
void WriteProgramShape(ProtoWriter& out, llvm::ArrayRef<Shape> parameters, const Shape& result,
                       llvm::ArrayRef<std::string> names);
/// Error unavailable-feature for element types that have no place in the message.
Status WriteProto(ProtoWriter& out, const Literal& literal);
void WriteProto(ProtoWriter& out, const OpMetadata& metadata);
/// Error unavailable-feature for forms that have no place in the message.
Status WriteProto(ProtoWriter& out, const Sharding& sharding);

}  // namespace hlo
