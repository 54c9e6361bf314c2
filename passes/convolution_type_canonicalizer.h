// ConvolutionTypeCanonicalizer: products of floats with integer results are taken in floats (passes.md §2.1).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: dots and convolutions of floats that yield integers yield f32 (f64 for f64 operands), which is
// then converted. This defines what such products mean: fractions of operands count. Left alone: all others.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunConvolutionTypeCanonicalizer(Module& module, const NoPassOptions& options,
                                             PassContext& context);

}  // namespace hlo
