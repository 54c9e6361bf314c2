// Where in the program an instruction comes from: its own file and line, or those of its stack frame.
#pragma once
#include <string>
#include <vector>

#include "ir/instruction.h"

namespace hlo {

/// One line of a program. `function` is empty where the metadata name file and line only.
struct SourceFrame {
  llvm::StringRef file, function;
  int32_t line = 0;
};

/// The frames of the metadata's stack_frame_id (hlo-text §3), innermost first, `most` at most. Ids that do
/// not exist and frames that are their own parents end the list.
std::vector<SourceFrame> StackFrames(const Instruction& inst, size_t most);
/// The file and line that the metadata name, else those of the innermost frame; without file: not known.
SourceFrame SourceOf(const Instruction& inst);
/// `file:line`, or nothing.
std::string SourceText(const Instruction& inst);

}  // namespace hlo
