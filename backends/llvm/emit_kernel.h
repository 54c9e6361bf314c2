// A kernel as a function of an LLVM module.
#pragma once
#include "backends/kernel/kernel.h"

namespace llvm {
class Module;
}

namespace hlo::codegen {

class CodeTarget;

/// Adds `void NAME(ptr buffers, i64 begin, i64 end)` to `module`. `buffers` points to one pointer per buffer
/// of the kernel; [begin, end) is the part of the outermost loops' iterations to run if they are parallel
/// (multiples of ParallelGrain but for the end), else 0 and 1. Where the module's CodeTarget has threads, it
/// is instead a kernel of blocks and threads, with a pointer for each array of the caller, none of which
/// overlap. Declines types and opcodes without emission.
Status EmitKernel(const kernel::Kernel& kernel, llvm::Module& module);

/// The errors of EmitKernel(), without emitting anything; null: for a machine without threads.
Status CheckKernel(const kernel::Kernel& kernel, const CodeTarget* target = nullptr);

/// Iterations that belong together when the outermost loop is divided.
int64_t ParallelGrain(const kernel::Kernel& kernel);

}  // namespace hlo::codegen
