// Which kernels are worth compiling.
#pragma once
#include "backends/cpu/compile.h"
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// Marks the kernels of a program that are interpreted, before any is compiled. It depends on the program and
/// the options only, never on what is in the cache: a program whose kernels take less time together than
/// compiled code takes to load is interpreted as a whole; of others, kernels that take next to no time.
/// Errors: unsupported-op, for a kernel that must be interpreted and cannot be.
Status ChooseTiers(Program& program, const CpuOptions& options);

}  // namespace hlo::cpu
