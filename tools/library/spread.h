// Clients whose devices are spread over processes.
#pragma once
#include "tools/library/client_state.h"

namespace hlo_toolkit::internal {

/// The processes that the options ask for, which are those of all clients of this process: they come together
/// once, and to an end when the program does. Null: this one is alone.
hlo::Result<hlo::processes::Processes*> ProcessesFor(const ClientOptions& options);

/// What a client is called in all processes: they make their clients in the same order.
uint64_t NextClientNumber();

/// The client's devices of a program. Where they are in several processes, equally many are in each, in
/// order.
hlo::Result<std::vector<int>> DevicesFor(const ClientState& client, const CompileOptions& options);

/// Compiles, and comes to one answer with the other processes where the devices are spread over several.
hlo::Result<std::unique_ptr<hlo::ClientProgram>> CompileWith(const ClientState& client,
                                                             const hlo::Module& module,
                                                             const hlo::CompileOptions& options,
                                                             const hlo::ExecutionOptions& execution);

}  // namespace hlo_toolkit::internal
