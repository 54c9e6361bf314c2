// Makes programs that can run: of scheduled modules, or of what was stored.
#pragma once
#include "backends/cpu/compile.h"
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// The steps and buffers of a module that Prepare() made ready; kernels are compiled by `jit`. Errors: what
/// buffer assignment reports. With a `red_zone` temporaries lie so far apart, and loops stay sequences of
/// steps.
Result<std::unique_ptr<Program>> BuildProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                              const CpuOptions& options, bool compile = true,
                                              int64_t red_zone = 0);

/// The program of a module as a text has its steps. Errors: program-…, and those of making code.
Result<std::unique_ptr<Program>> ReadProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                             const compile::ProgramSource& source, bool compile);

/// A program without its module and its code as bytes.
std::string ToBinary(const Program& program);
/// The same program of an equal module, these bytes and the code. Null if they do not fit together.
std::unique_ptr<Program> LoadProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                     llvm::StringRef bytes, CompiledCode code);

}  // namespace hlo::cpu
