// reduce-window-resizer: windows over vectors become windows over matrices of one column (passes.md §2.2).
//
// Requires nothing. Preserves the flat call graph, fusions and layouts.
// Changes: a reduce-window of rank 1, with any number of operands, works on reshapes of rank 2. Left alone:
// dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunReduceWindowResizer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
