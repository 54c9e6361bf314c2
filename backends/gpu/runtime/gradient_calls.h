// Attention as calls that a library may do as a whole, with its gradients where it has some.
#pragma once
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// Before passes take them apart: instructions of attention in one computation, which the library does
/// (GradientsFrom), become a call; where its gradients are among them two, of the result with statistics of
/// its rows and of the gradients. Passes make kernels of what is called, which computes the same, gradients
/// without the result and the statistics: those operands are for the library alone. Gradients that nobody
/// reads are zeros there. Before that calls are inlined, and loops make what is cheap to make in them.
/// Errors: those of these passes.
Status CallGradients(Module& module);

}  // namespace hlo::gpu
