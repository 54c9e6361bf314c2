// simplify-fp-conversions: one conversion where floats pass through several types (passes.md §2.2).
//
// Requires nothing. Preserves layouts, fusions, canonical dots and flat calls.
// Changes: convert(convert(x)) between floating types becomes one convert, or x. Where the inner conversion
// loses nothing the result is exact; elsewhere it has excess precision, which --strict-fp forbids.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunSimplifyFpConversions(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
