// sub-byte-size-setter: layouts say that elements narrower than a byte are stored packed (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: element_size_in_bits of all layouts of 1-, 2- and 4-bit types, in the entry's layout and constants
// too.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunSubByteSizeSetter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
