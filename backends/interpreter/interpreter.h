// The interpreter backend: runs a module op by op with the reference semantics.
#pragma once
#include "backends/executable.h"

namespace hlo {

/// Runs `module`, which must stay as it is meanwhile and have passed CheckSupported().
std::unique_ptr<Executable> MakeInterpreter(const Module& module);

/// CheckSupported() and one run.
Result<ExecutionResult> RunModule(const Module& module, std::vector<std::vector<Literal>> arguments,
                                  const ExecutionOptions& options);

}  // namespace hlo
