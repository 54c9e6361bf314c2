// AssumeGatherIndicesInBoundRewriteToCopy: promises about indices that nobody uses become copies (passes.md
// §2.2).
//
// Requires nothing. Preserves everything but the schedule, which is repaired.
// Changes: custom-calls `AssumeGatherIndicesInBound` and `GatherScatterIndicesBitpacked` become copies of
// their operand.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunAssumeGatherIndicesInBound(Module& module, const NoPassOptions& options,
                                           PassContext& context);

}  // namespace hlo
