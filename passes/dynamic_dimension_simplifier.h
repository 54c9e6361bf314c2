// dynamic-dimension-simplifier: cancels what puts sizes into vectors and takes them out again (passes.md
// §2.2).
//
// Requires nothing. Preserves layouts, fusions and canonical dots.
// Changes, for scalars and vectors: a concatenate in a concatenate becomes one; a slice of a concatenate
// that covers one operand becomes the operand; a reshape of a one-element vector that a reshape or broadcast
// made of a scalar becomes the scalar. Of any static shape: reshapes of reshapes become one, and those to the
// shape of their operand go.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDynamicDimensionSimplifier(Module& module, const NoPassOptions& options,
                                           PassContext& context);

}  // namespace hlo
