// The option tables in forms that other programs read: manual pages, completions of shells.
#pragma once
#include "tools/common/options.h"

namespace hlo {

/// `form`: man (a page of section 1), bash, zsh, fish (a script that completes the tool's options). Error:
/// usage-option for other words.
Status PrintHelpAs(llvm::StringRef form, const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups,
                   llvm::raw_ostream& out);

/// The words of forms.
std::vector<llvm::StringRef> HelpForms();

}  // namespace hlo
