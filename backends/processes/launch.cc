#include "backends/processes/launch.h"

#include <cstdlib>

#include "llvm/ADT/StringRef.h"

namespace hlo::processes {
namespace {

/// The variables of one who starts processes.
struct Starter {
  const char *by, *rank, *size;
  /// Set where the process was started, too; null: nothing else has to be.
  const char* step;
};
constexpr Starter kStarters[] = {
    {"MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
    {"MPI", "PMI_RANK", "PMI_SIZE", nullptr},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"},
};

/// What MPI is told by, of processes that are not started by it.
constexpr const char* kTold[] = {"PMIX_NAMESPACE", "PMI_FD"};

llvm::StringRef Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// A launch, and who says so.
struct Found {
  Launch launch;
  const Starter* starter;
};

Result<std::optional<Found>> Find() {
  for (const Starter& starter : kStarters) {
    const llvm::StringRef rank = Variable(starter.rank), size = Variable(starter.size);
    if (rank.empty() || size.empty() || (starter.step != nullptr && Variable(starter.step).empty())) continue;
    Launch launch{starter.by};
    if (rank.getAsInteger(10, launch.rank) || size.getAsInteger(10, launch.size) || launch.rank < 0 ||
        launch.rank >= launch.size)
      return Error("usage-devices", {}, "{0} is '{1}' and {2} '{3}', expected a number below another one",
                   starter.rank, rank, starter.size, size);
    if (starter.step != nullptr)
      launch.has_mpi = llvm::any_of(kTold, [](const char* name) { return !Variable(name).empty(); });
    return Found{std::move(launch), &starter};
  }
  return std::optional<Found>();
}

/// That a number agrees with the environment, where both say it.
Status Agree(const char* what, std::optional<int64_t> said, const char* variable, int64_t found) {
  if (!said || *said == found) return {};
  return Error("usage-devices", {}, "{0} {1} is asked for, {2} is '{3}'", what, *said, variable, found);
}

}  // namespace

Result<std::optional<Launch>> FindLaunch() {
  HLO_TRY(auto found, Find());
  if (!found) return std::optional<Launch>();
  return std::move(found->launch);
}

Result<std::optional<Launch>> FindLaunch(const LaunchOptions& options) {
  const bool meets = !options.coordinator.empty();
  const bool says = options.rank || options.world_size || meets;
  if (options.launcher == Launcher::Threads || options.launcher == Launcher::Nccl) {
    if (says)
      return Error("usage-option", {},
                   "rank, world size and coordinator are of several processes, the launcher is of one");
    return std::optional<Launch>();
  }
  if (options.launcher == Launcher::Mpi && meets)
    return Error("usage-option", {}, "launcher 'mpi' has no coordinator: mpirun brings processes together");
  HLO_TRY(std::optional<Found> found, Find());
  // Alone in a launch, a process may belong to others that have been started elsewhere.
  if (found && found->launch.size > 1) {
    HLO_CHECK_OK(Agree("rank", options.rank, found->starter->rank, found->launch.rank));
    HLO_CHECK_OK(Agree("world size", options.world_size, found->starter->size, found->launch.size));
  } else if (says) {
    found.reset();
  }
  if (found && !meets) return std::move(found->launch);
  if (!says) return std::optional<Launch>();
  Launch launch{meets ? "a coordinator" : "the user"};
  if (found) launch = {launch.by, found->launch.rank, found->launch.size, found->launch.has_mpi};
  if (!found && (!options.rank || !options.world_size))
    return Error("usage-option", {},
                 "of the rank and the world size one is missing; nothing that is set by MPI or Slurm has it");
  launch.rank = options.rank.value_or(launch.rank);
  launch.size = options.world_size.value_or(launch.size);
  constexpr int64_t kMostProcesses = 4096;
  if (launch.rank < 0 || launch.rank >= launch.size || launch.size > kMostProcesses)
    return Error("usage-option", {},
                 "rank {0} of {1} processes: expected one of 0 to {2}, and {3} processes at most",
                 launch.rank, launch.size, launch.size - 1, kMostProcesses);
  if (!meets && launch.size > 1 && options.launcher != Launcher::Mpi)
    return Error("usage-option", {},
                 "{0} processes have to find each other: no coordinator is given, and neither MPI nor Slurm "
                 "has started them",
                 launch.size);
  return launch;
}

}  // namespace hlo::processes
