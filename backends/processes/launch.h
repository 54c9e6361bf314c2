// Who has started this process, and others beside it, and how they find each other.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "ir/support/result.h"

namespace hlo::processes {

/// What brings processes together. Auto: what they have been started by or a coordinator; else each is alone.
enum class Launcher : uint8_t { Auto, Threads, Mpi, Nccl };

/// What a user says of a launch.
struct LaunchOptions {
  Launcher launcher = Launcher::Auto;
  std::optional<int64_t> rank, world_size;
  /// Where the first process listens for those that have come without MPI: HOST:PORT. Empty: nowhere.
  std::string coordinator;
  /// How long they may take to come there.
  std::chrono::milliseconds timeout{30000};
};

/// What is known of a launch.
struct Launch {
  std::string by;  // `MPI`, `Slurm`, `a coordinator` or `the user`
  int64_t rank = 0, size = 1;
  /// Its starter has told MPI where the others are.
  bool has_mpi = true;
};

/// The launch that this process is part of, if any: by mpirun (OMPI_COMM_WORLD_*, PMI_*) or srun (SLURM_*).
/// In a job's script, which srun has not started, Slurm's variables are of the job and count for nothing.
/// Errors: usage-devices, where the variables make no sense.
Result<std::optional<Launch>> FindLaunch();

/// The same with what the user says, who need not say what the environment does, and may not say something
/// else. No launch: this process is alone. Errors: usage-devices, usage-option.
Result<std::optional<Launch>> FindLaunch(const LaunchOptions& options);

}  // namespace hlo::processes
