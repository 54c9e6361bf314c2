// What sub-byte-size-setter and sub-byte-size-removal share.
#pragma once
#include "passes/pass.h"

namespace hlo {

/// Sets element_size_in_bits of layouts of 1-, 2- and 4-bit types to their width, or clears it.
Result<bool> SetSubByteSizes(Module& module, PassContext& context, bool packed);

}  // namespace hlo
