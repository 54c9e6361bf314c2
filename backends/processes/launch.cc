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
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"},
};

llvm::StringRef Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

Result<std::optional<Launch>> FindLaunch() {
  for (const Starter& starter : kStarters) {
    const llvm::StringRef rank = Variable(starter.rank), size = Variable(starter.size);
    if (rank.empty() || size.empty() || (starter.step != nullptr && Variable(starter.step).empty())) continue;
    Launch launch{starter.by};
    if (rank.getAsInteger(10, launch.rank) || size.getAsInteger(10, launch.size) || launch.rank < 0 ||
        launch.rank >= launch.size)
      return Error("usage-devices", {}, "{0} is '{1}' and {2} '{3}', expected a number below another one",
                   starter.rank, rank, starter.size, size);
    return launch;
  }
  return std::optional<Launch>();
}

}  // namespace hlo::processes
