// Expected diagnostics and generated checks in HLO files (tools.md §2.3).
#pragma once
#include <string>
#include <vector>

#include "tools/modules/inputs.h"

namespace hlo {

/// Holds the diagnostics of the text [begin, end) of a source against its comments
/// `// expected-error@+1 {{text}}`. Errors of the result (ids mismatch-…) say what was expected and did
/// not come, and what came unexpected. A malformed comment is an error usage-expectation.
std::vector<Diagnostic> CheckExpectations(const SourceBuffer& source, size_t begin, size_t end,
                                          llvm::ArrayRef<Diagnostic> diagnostics);

}  // namespace hlo
