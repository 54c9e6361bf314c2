// Attention as calls that a library may do as a whole.
#pragma once
#include "backends/compile/machine.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// Whether there are products and exponentials that may be attention.
bool MayHaveAttention(const Module& module);
/// A call says of itself what it is (attention_text.h). It is a composite: it stays one, and keeps its
/// operands until it ends, those too that nothing called reads.
void MarkAttention(Instruction* call, llvm::StringRef text);
/// Of a module of kernels with an order: those of an attention that a library does (AttentionFrom) become
/// steps of a call, unless something between them may write over what they read. What they add to scores,
/// where that is no array, is made by a kernel before the call. Errors: those of copy-insertion.
Status CallAttention(Module& module, const compile::Machine& machine);

}  // namespace hlo::gpu
