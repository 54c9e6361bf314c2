// Scripts that complete a tool's options, their values and files, for bash, zsh and fish.
#pragma once
#include "tools/common/options.h"

namespace hlo {

void PrintBashCompletion(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out);
void PrintZshCompletion(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out);
void PrintFishCompletion(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out);

/// Whether `--no-NAME` is worth telling of.
bool IsOnByDefault(const OptionRow& row);
/// The help of a row with its default.
std::string HelpOf(const OptionRow& row);

}  // namespace hlo
