// Kernels that one launch runs side by side, each in blocks of its own.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// One of them, scheduled, and where its arrays lie among those of the whole: those of the caller, in order.
struct KernelPart {
  const Kernel* kernel = nullptr;
  llvm::SmallVector<BufferId, 8> arrays;
};

/// Whether it may be one of several: it has blocks, in one direction, and all else stands inside of these but
/// for values.
bool MayBePart(const Kernel& kernel);
/// Bytes that the blocks of a kernel share.
int64_t SharedBytes(const Kernel& kernel);

/// A kernel of all of them, whose first blocks are those of the first, and so on: in a section for each
/// (threads.h). `arrays`: of the caller. All parts are such that they may be.
Kernel SideBySide(llvm::StringRef name, llvm::ArrayRef<Buffer> arrays, llvm::ArrayRef<KernelPart> parts);

}  // namespace hlo::kernel
