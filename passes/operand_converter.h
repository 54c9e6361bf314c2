// operand_converter: operands of dots get one type (passes.md §2.1).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: of two operands of a dot the narrower is converted to the type of the wider, where no value is
// lost. Left alone: types neither of which holds the other.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunOperandConverter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
