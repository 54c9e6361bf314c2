// sub-byte-size-removal: layouts say nothing about packed elements (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: element_size_in_bits of all layouts of 1-, 2- and 4-bit types becomes unset.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunSubByteSizeRemoval(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
