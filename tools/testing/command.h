// The commands of RUN lines: a small shell language, run in process.
#pragma once
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace hlo::testing {

/// One program of a pipeline with its redirections (empty: none).
struct Stage {
  std::vector<std::string> words;  // program and arguments, unquoted, substitutions made
  std::string stdin_path, stdout_path;
  bool merge_stderr = false;  // 2>&1
  bool negated = false;       // `not program ...`: must fail
};

/// Parses `[not] program argument... [< file] [> file] [2>&1] | ...`. Words are separated by blanks; quotes
/// '...' and "..." and the backslash keep blanks and operators. Each `%x` of `substitutions` is replaced
/// everywhere, `%%` is a percent sign; other percent signs stand for themselves.
Result<std::vector<Stage>> ParseCommand(llvm::StringRef command,
                                        const llvm::StringMap<std::string>& substitutions);

}  // namespace hlo::testing
