// control-dep-remover: drops all control edges (passes.md §2.1).
//
// Requires nothing. Preserves everything but what only control edges kept apart: copies that
// copy-insertion took out relying on them.
// Changes: control-predecessors of every instruction of the allowed threads go; fusions too.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunControlDepRemover(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
