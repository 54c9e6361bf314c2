// What hlo-diff compares: two modules, the modules of two dump directories, the steps of one.
#pragma once
#include "tools/common/dump_directory.h"
#include "tools/modules/inputs.h"

namespace hlo {

/// Two files to compare; one of them is empty where there is no counterpart.
struct DiffPair {
  std::string left, right;
  std::string module;  // its name, of dump directories
};

/// The module dumps that --stage-in selects of two directories, paired by module name, order of appearance
/// and step. Errors: input-open, input-empty, usage-option.
Result<std::vector<DiffPair>> PairDumps(llvm::StringRef left, llvm::StringRef right,
                                        const CommonOptions& options);

/// The only module of a file (`-`: standard input); null after errors, which have been reported. Errors:
/// usage-option if there are several, input-empty.
Result<std::unique_ptr<Module>> ReadOneModule(const CommonOptions& options, const std::string& file,
                                              llvm::StringRef stdin_text, DiagnosticSink& sink);

}  // namespace hlo
