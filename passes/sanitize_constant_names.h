// sanitize-constant-names: names of constants without `.` and `-` (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: in names of constants, `.` and `-` become `_`; names stay unique.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunSanitizeConstantNames(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
