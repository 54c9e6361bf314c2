// logistic-expander: logistic(x) as 1 / (1 + exp(−x)) (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: every logistic; floats of less than 32 bits are taken in f32 and rounded once.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunLogisticExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
