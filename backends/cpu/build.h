// Turns a scheduled module into a program.
#pragma once
#include "backends/cpu/build_record.h"
#include "backends/cpu/compile.h"
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// The steps and buffers of a module that Prepare() made ready; kernels are compiled by `jit`. Errors: what
/// buffer assignment reports. With a `red_zone` temporaries lie so far apart, and loops stay sequences of
/// steps. `record` gets what RebuildProgram() needs.
Result<std::unique_ptr<Program>> BuildProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                              const CpuOptions& options, BuildRecord& record,
                                              bool compile = true, int64_t red_zone = 0);
/// The same program without red zones, of an equal module, what was recorded and the code that was compiled.
/// Null if these do not fit together.
std::unique_ptr<Program> RebuildProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                        BuildRecord record, CompiledCode code);

}  // namespace hlo::cpu
