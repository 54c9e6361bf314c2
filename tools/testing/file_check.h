// LLVM's FileCheck as a function.
#pragma once
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo::testing {

struct FileCheckOptions {
  std::vector<std::string> prefixes{"CHECK"};
  std::vector<std::string> implicit_check_not;
};

/// Empty if `output` satisfies the directives of `checks`, else FileCheck's explanation, with positions in
/// `checks` under the name `checks_name`.
std::string RunFileCheck(llvm::StringRef checks, llvm::StringRef checks_name, llvm::StringRef output,
                         const FileCheckOptions& options);

}  // namespace hlo::testing
