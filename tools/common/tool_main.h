// The tools as functions, so that main is a few lines and tests call them in process.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// Runs one tool and returns its exit code (tools.md §1.6).
///   args        the command line without the program's name
///   stdin_text  the text of the input `-`; a null StringRef (no data) means that the process's own
///               standard input is read where it is asked for
///   out, err    take the place of standard output and standard error; whether they are terminals is
///               asked of the streams (is_displayed), so string streams get no colour and no progress
/// Does not call exit, keeps no state between calls and installs no signal handlers: that is for main.
using ToolMain = int(llvm::ArrayRef<const char*> args, llvm::StringRef stdin_text, llvm::raw_ostream& out,
                     llvm::raw_ostream& err);

ToolMain HloOptMain;
ToolMain HloRunMain;
ToolMain HloDiffMain;
ToolMain HloVizMain;

}  // namespace hlo
