// simplify-sorts: sorts lose operands that nobody reads (passes.md §2.2).
//
// Requires nothing. Preserves the flat call graph, layouts and fusions.
// Changes: operands of a variadic sort whose results are not read and whose elements the comparator does not
// look at are removed, from the comparator too; a sort of one operand yields an array. Left alone: sorts
// whose tuple is read as a whole.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunSimplifySorts(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
