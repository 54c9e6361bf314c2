// How wide in memory the elements of a type are, everywhere in a module.
#pragma once
#include "passes/rewrite/context.h"

namespace hlo {

/// Sets element_size_in_bits of all layouts of the types for which `width` has a value, in the entry's layout
/// and in constants too. Asks `may_change` before each change, and stops where it says no. Whether anything
/// changed.
Result<bool> SetElementWidths(Module& module, const PassContext& context,
                              llvm::function_ref<std::optional<int64_t>(ElementType)> width,
                              llvm::function_ref<bool()> may_change);

}  // namespace hlo
