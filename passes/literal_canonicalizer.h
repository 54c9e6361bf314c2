// literal-canonicalizer: equal constants share their data (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: nothing that can be seen; constants of equal shape and value, in any computation, use one piece of
// memory. Left alone: constants of less than `min_size_bytes`.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct LiteralCanonicalizerOptions {
  int64_t min_size_bytes = 0;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunLiteralCanonicalizer(Module& module, const LiteralCanonicalizerOptions& options,
                                     PassContext& context);

}  // namespace hlo
