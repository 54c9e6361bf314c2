// The text form of protocol buffers (.pbtxt), to and from bytes.
#pragma once
#include "ir/support/result.h"
#include "ir/support/source.h"

namespace hlo {

/// The bytes of the message that the text describes: an HloSnapshot if it begins with `hlo`, an HloProto with
/// `hlo_module`, else an HloModuleProto. Fields are in the order of the text, lists of numbers where they
/// begin. Errors (input-format, limit-nesting) point into the text.
Result<std::string> ProtoTextToBytes(const SourcePtr& source);

/// The text of a message, a field per line. Bytes that the schema does not know are left out.
std::string ProtoBytesToText(llvm::StringRef bytes, llvm::StringRef message);

}  // namespace hlo
