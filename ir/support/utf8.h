// Characters of UTF-8 text, tolerant of malformed bytes.
#pragma once
#include <cstddef>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Bytes of the character at the front of `text` (not empty): 1 to 4; a malformed byte is one character.
size_t CharacterLength(llvm::StringRef text);

/// Number of characters; every malformed byte counts as one.
size_t CountCharacters(llvm::StringRef text);

/// The text with U+FFFD in the place of every malformed byte.
std::string ReplaceMalformed(llvm::StringRef text);

/// Text fit for a terminal: control characters (but newline and tab) and malformed bytes become `\xNN`.
std::string EscapeControls(llvm::StringRef text);

}  // namespace hlo
