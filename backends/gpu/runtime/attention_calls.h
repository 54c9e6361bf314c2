// Attention as calls that a library may do as a whole.
#pragma once
#include "backends/compile/machine.h"
#include "ir/module.h"

namespace hlo::gpu {

/// Whether there are products and exponentials that may be attention.
bool MayHaveAttention(const Module& module);
/// Of a module of kernels with an order: those of an attention that a library does (AttentionFrom) become
/// steps of a call, unless something between them may write over what they read. What they add to scores,
/// where that is no array, is made by a kernel before the call.
void CallAttention(Module& module, const compile::Machine& machine);

}  // namespace hlo::gpu
