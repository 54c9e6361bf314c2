// Long explanations of diagnostics: the texts of tools/explanations, embedded in the program.
#pragma once
#include "ir/support/diagnostic.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// The files, as they are. Each diagnostic has a section `## id` in one of them: paragraphs of one line, and
/// fenced blocks: `hlo` the module m.hlo of the example, others commands with what they print.
llvm::ArrayRef<llvm::StringRef> ExplanationTexts();

/// The section of a diagnostic without its heading; empty if there is none.
llvm::StringRef FindExplanation(llvm::StringRef id);
/// Prints a section for a terminal: paragraphs broken into lines, blocks indented.
void PrintExplanation(llvm::StringRef section, llvm::raw_ostream& out);

}  // namespace hlo
