// Kernels from text.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// The kernel that Print() writes as `text`, verified. Blank lines and `//` comments are skipped. Errors:
/// kernel-text and kernel-invalid, naming the line.
Result<Kernel> ParseKernel(llvm::StringRef text);

/// Whether a statement may compute it: elementwise opcodes, and bitcasts between elements of one size.
bool MayCompute(OpKind kind);

/// Holds the rules of Kernel IR: values are defined once, before their uses and visible there, loops belong
/// to the regions that name them, buffers exist and are written only if they say so, types and numbers of
/// operands fit, blocks and threads keep to threads.h. `lines`: those of the statements, in the order of
/// their first words, for messages. Errors: kernel-invalid.
Status VerifyKernel(const Kernel& kernel, llvm::ArrayRef<int> lines = {});

/// The line of the statement of this number, as `line 3: `; empty if it is not known.
std::string LineOf(llvm::ArrayRef<int> lines, size_t number);

}  // namespace hlo::kernel
