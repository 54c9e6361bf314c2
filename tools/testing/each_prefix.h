// A pipeline over the conformance suite, held to the results after every pass that changes something.
#pragma once
#include "tools/testing/each_pass.h"

namespace hlo::testing {

/// What became of all cases together.
struct EachPrefixReport {
  int64_t cases = 0, executions = 0, changed = 0;  // of passes
  std::vector<std::string> failures;               // at most one of each case: the first prefix that fails
};

/// Runs the pipeline on each case. A module that a pass changed must verify and give the results of the
/// suite, and the bits of before where the pass keeps them (KeepsBits), under --strict-fp with
/// `options.strict`. Failures are printed as they come.
Result<EachPrefixReport> CheckEachPrefix(llvm::StringRef pipeline, const EachPassOptions& options,
                                         llvm::raw_ostream& os);

}  // namespace hlo::testing
