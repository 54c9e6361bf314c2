// stochastic_convert_decomposer: stochastic-convert as arithmetic (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: stochastic-convert to signed integers becomes: the whole part of |x|, one more if the random word
// is below the fraction, with the sign of x; saturated as convert does where x is out of range. Exact.
// Left alone: unsigned targets, for which the op has no meaning; dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunStochasticConvertDecomposer(Module& module, const NoPassOptions& options,
                                            PassContext& context);

}  // namespace hlo
