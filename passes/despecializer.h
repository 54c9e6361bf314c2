// despecializer: takes back what was decided for one machine (passes.md §2.1).
//
// Requires nothing. Preserves canonical dots.
// Changes: the schedule and all control edges go, every fusion becomes the instructions of its body.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDespecializer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
