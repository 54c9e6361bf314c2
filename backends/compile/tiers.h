// Which kernels are worth compiling.
#pragma once
#include <string>
#include <vector>

#include "backends/compile/machine.h"
#include "backends/compile/program.h"

namespace hlo::compile {

/// How a kernel is run, and why so.
struct TierChoice {
  bool interpreted = false;
  std::string why;
};
struct TierOptions {
  int64_t executions = 1;  // that are known to come
  bool interpret = false;  // whatever it takes
};
/// Nanoseconds of one run of a kernel of the program's table that is interpreted. Declines kernels that
/// cannot be.
using InterpretedTime = llvm::function_ref<Result<double>(size_t kernel)>;

/// By kernel, of a table of `kernels`. It depends on the program and the options only, never on what is in a
/// cache: a program whose kernels take less time together than compiled code takes to load is interpreted as
/// a whole; of others, kernels that take next to no time. Errors: unsupported-op, for a kernel that must be
/// interpreted and cannot be.
Result<std::vector<TierChoice>> ChooseTiers(const Program& program, size_t kernels,
                                            const Machine::Interpreting& limits, const TierOptions& options,
                                            InterpretedTime time);

}  // namespace hlo::compile
