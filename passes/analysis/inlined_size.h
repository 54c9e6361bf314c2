// How large a module gets where calls are replaced by copies of what they call.
#pragma once
#include "ir/module.h"
#include "ir/support/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// Each level of calls may double the instructions: no more than this many are made by inlining.
constexpr int64_t kMostInlined = int64_t{1} << 22;

/// Error limit-inline at `loc` if the module would have more than kMostInlined instructions once a copy of
/// its callee replaces each call that `is_inlined` names (InlineAll).
Status CheckInlinedSize(const Module& module, llvm::function_ref<bool(const Instruction&)> is_inlined,
                        Loc loc);

}  // namespace hlo
