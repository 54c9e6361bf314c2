// Who has started this process, and others beside it.
#pragma once
#include <optional>
#include <string>

#include "ir/support/result.h"

namespace hlo::processes {

/// What the environment says of a launch.
struct Launch {
  std::string by;  // `MPI` or `Slurm`
  int64_t rank = 0, size = 1;
};

/// The launch that this process is part of, if any: by mpirun (OMPI_COMM_WORLD_*, PMI_*) or srun (SLURM_*).
/// In a job's script, which srun has not started, Slurm's variables are of the job and count for nothing.
/// Errors: usage-devices, where the variables make no sense.
Result<std::optional<Launch>> FindLaunch();

}  // namespace hlo::processes
