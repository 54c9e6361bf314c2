// Texts made safe for the formats of drawings.
#pragma once
#include <string>

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// The text as UTF-8 without control characters but newlines, at most `limit` bytes, `...` telling of a cut.
std::string PrintableText(llvm::StringRef text, size_t limit);

/// A quoted string of DOT that means this text and nothing else; newlines become `\n` (centred) or `\l` (to
/// the left, after every line). Under 16 KB: older scanners of Graphviz take no more.
std::string DotQuoted(llvm::StringRef text, bool left = false);

/// Appends the text as contents or attribute value of HTML.
void AppendHtml(std::string& out, llvm::StringRef text);

}  // namespace hlo
