// Reading `hlo.graph/1`, what --output-format=json writes (tools.md §1.2, §1.8).
#pragma once
#include <string>

#include "ir/support/json.h"
#include "ir/support/result.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// True if the text begins like a JSON object.
bool LooksLikeJson(llvm::StringRef text);

/// The modules of one or more JSON objects as HLO text, with split markers between them. Errors
/// (input-format, limit-nesting) point to the value and name its path, as in
/// `computations[1].instructions[0].opcode`.
Result<std::string> GraphJsonToHlo(const SourcePtr& json);

/// The object that a text consists of. Error input-format if it is none or has another `schema`.
Result<JsonDocument> ReadJsonObject(const SourcePtr& source, llvm::StringRef schema);

}  // namespace hlo
