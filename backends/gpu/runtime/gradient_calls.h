// Attention that has gradients as calls that a library may do as a whole.
#pragma once
#include "ir/module.h"

namespace hlo::gpu {

/// Before passes take them apart: instructions of attention and of its gradients in one computation, which
/// the library does (GradientsFrom), become two calls, of the result with statistics of its rows and of the
/// gradients. Passes make kernels of what is called, which computes the same, gradients without the result
/// and the statistics: those operands are for the library alone.
void CallGradients(Module& module);

}  // namespace hlo::gpu
