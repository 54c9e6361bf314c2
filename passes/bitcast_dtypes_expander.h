// bitcast_dtypes_expander: bitcast-convert between widths as shifts (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: bitcast-convert to a wider type becomes shifts of the parts and a reduction by or; to a narrower
// one, shifts of the whole and truncation. Left alone: equal widths, complex types, pred, 6-bit types,
// dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunBitcastDtypesExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
