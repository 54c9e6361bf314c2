// batch-dot-simplification: dots lose batch dimensions of size 1 (passes.md §2.2).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: operands are reshaped to lack their batch dimensions of size 1, and the result is reshaped back.
// Left alone: other dimensions of size 1, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunBatchDotSimplification(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
