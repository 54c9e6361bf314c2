// File names as words of shell commands.
#pragma once
#include <string>

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// `text` as one word of a POSIX shell command, whatever it holds.
std::string ShellWord(llvm::StringRef text);

/// A shell command with `%s` replaced by a file name, or with the name appended if it has no `%s`
/// (tools.md §2.5). The shell that runs the command reads the name as it is, as a part of one word,
/// wherever `%s` stands: bare, in single or double quotes, in `$(...)`, between backticks, in a
/// here-document. Bare `\%s` and comments stay. What a second shell is given (`sh -c 'grep x %s'`) it reads
/// as a command again: there the user quotes, as in `sh -c 'grep x "$1"' - %s`.
std::string CommandWithFile(llvm::StringRef command, llvm::StringRef file);

}  // namespace hlo
