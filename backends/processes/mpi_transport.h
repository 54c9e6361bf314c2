// MPI, as the plugin beside the program has it.
#pragma once
#include <memory>

#include "backends/processes/transport.h"

namespace hlo::processes {

/// Joins the processes that MPI has started. The plugin is hlo-mpi.so beside the program; HLO_MPI in the
/// environment names another one, or `none`. Once per process. Errors: unavailable-mpi.
Result<std::unique_ptr<Transport>> JoinMpi();

}  // namespace hlo::processes
