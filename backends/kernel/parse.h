// Kernels from text.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// The kernel that Print() writes as `text`, verified. Blank lines and `//` comments are skipped. Errors:
/// kernel-text, naming the line; kernel-invalid.
Result<Kernel> ParseKernel(llvm::StringRef text);

/// Whether a statement may compute it: elementwise opcodes, and bitcasts between elements of one size.
bool MayCompute(OpKind kind);

/// Holds the rules of Kernel IR: values are defined once, before their uses and visible there, loops belong
/// to the regions that name them, buffers exist and are written only if they say so, types and numbers of
/// operands fit. Errors: kernel-invalid.
Status VerifyKernel(const Kernel& kernel);

}  // namespace hlo::kernel
