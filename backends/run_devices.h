// Runs a program on every device of a run, each on a thread of its own.
#pragma once
#include "backends/executable.h"
#include "ir/eval/device.h"

namespace hlo {

/// Everything that cannot run whatever the backend is found before any work: custom-call targets nobody
/// implements, elided constants, unbounded or uncountable shapes. Ids unsupported-…, elided-constant; exit 5.
Status CheckSupported(const Module& module, const ExecutionOptions& options);

/// What one device does: its result, from its arguments.
using DeviceProgram = llvm::function_ref<Result<Literal>(Device& device, std::vector<Literal> arguments)>;
/// Runs `program` on all devices the options ask for; the first failure stops the others and is returned.
Result<ExecutionResult> RunOnDevices(std::vector<std::vector<Literal>> arguments,
                                     const ExecutionOptions& options, DeviceProgram program);

}  // namespace hlo
