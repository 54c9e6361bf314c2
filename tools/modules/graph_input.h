// Reading `hlo.graph/1`, what --output-format=json writes (tools.md §1.2, §1.8).
#pragma once
#include <string>

#include "ir/support/result.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace hlo {

/// True if the text begins like a JSON object.
bool LooksLikeJson(llvm::StringRef text);

/// The modules of one or more JSON objects as HLO text, with split markers between them. Errors
/// (input-format) name the place, as in `computations[1].instructions[0].opcode`.
Result<std::string> GraphJsonToHlo(llvm::StringRef json);

/// The object that a text consists of. Error input-format, which says of which `file`, if it is none, is
/// nested too deeply, or has another `schema`.
Result<llvm::json::Object> ParseJsonObject(llvm::StringRef text, llvm::StringRef file,
                                           llvm::StringRef schema);

}  // namespace hlo
