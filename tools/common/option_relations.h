// Options that stand beside others: which need some, which exclude some.
#pragma once
#include "tools/common/options.h"

namespace hlo {

/// One use of an option in any source.
struct GivenOption {
  const OptionRow* row;
  llvm::StringRef written;  // with its dashes
  llvm::StringRef value;
  bool of_command_line;
};

/// Holds the options given, lowest precedence first, against the tool's relations; error: usage-option.
Status CheckOptionRelations(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups,
                            llvm::ArrayRef<GivenOption> given);

}  // namespace hlo
