// Makes programs that can run of modules that are ready.
#pragma once
#include "backends/compile/machine.h"
#include "backends/gpu/runtime/program.h"
#include "passes/analysis/buffer_assignment.h"

namespace hlo::gpu {

/// How values are placed: results of kernels may take the place of operands, but not where a library could do
/// the work, which writes over none. `machine` must outlive the options.
BufferOptions PlacementOptions(const compile::Machine& machine);

/// The steps, buffers and PTX of a module that the pipeline of a level left; without `make_code` no PTX, for
/// who only looks at the steps. Errors: what buffer assignment reports, kernel-schedule, compile-kernels.
Result<std::unique_ptr<Program>> BuildProgram(std::unique_ptr<Module> module, const Target& target,
                                              const compile::Machine& machine, bool make_code = true);

/// A program without its module and its code as bytes.
std::string ToBinary(const Program& program);
/// The same program of an equal module, these bytes and its code (KernelTable::ToBinary()). Null if they do
/// not fit together.
std::unique_ptr<Program> LoadProgram(std::unique_ptr<Module> module, const Target& target,
                                     const compile::Machine& machine, llvm::StringRef bytes,
                                     llvm::StringRef code);

}  // namespace hlo::gpu
