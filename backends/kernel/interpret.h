// Runs kernels by walking over their statements: slow, and the meaning of Kernel IR.
#pragma once
#include <array>

#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// Runs all of `kernel`, which is verified, on `buffers`, one pointer per buffer (of those that are not the
/// caller's: anything), elements in unpacked storage. Elements are computed by the evaluator's elementwise
/// kernels; partial results of wide reductions are made and folded as kernel.h says, so that compiled kernels
/// give the same bits. Threads of a block run side by side (threads.h), atomics in the order of their
/// numbers. Declines operations the evaluator does not know. Errors: kernel-invalid for
/// elements outside of arrays, races, reads of what a block or a thread has not written, threads that miss a
/// barrier.
Status Interpret(const Kernel& kernel, llvm::ArrayRef<void*> buffers);

/// What folding with anything leaves as it is, in unpacked storage: wide reductions start with it. Nothing
/// for types without it.
std::optional<std::array<uint8_t, 16>> NeutralElement(OpKind op, ElementType type);

}  // namespace hlo::kernel
