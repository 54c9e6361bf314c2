// hlo-constant-splitter: every user has its own copy of a constant (passes.md §2.2).
//
// Requires nothing. Preserves everything but the schedule, which is repaired.
// Changes: constants with several users are copied for all users but the first. cse undoes it.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunHloConstantSplitter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
