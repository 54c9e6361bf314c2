// What every backend makes of a module: something that runs on N simulated devices.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/device_value.h"
#include "backends/memory_plan.h"
#include "ir/literal.h"
#include "ir/module.h"
#include "ir/support/result.h"
#include "llvm/ADT/StringMap.h"

namespace hlo {

class CustomCallLibraries;
class DeviceNetwork;
class HostTransfers;
class Profile;
class StopToken;

/// Of the module's own random instructions, where nobody says another.
inline constexpr uint64_t kRngSeed = 42;

/// Options of one run; see tools.md §3.7 and ops-structured §12.4.
struct ExecutionOptions {
  int64_t replica_count = 1;
  int64_t partition_count = 1;
  uint64_t rng_seed = kRngSeed;
  std::chrono::milliseconds collective_timeout{30000};
  /// Runs this device alone: the others contribute what changes nothing (reductions) or zeros.
  std::optional<int64_t> only_device;
  /// Has the devices that other processes run; null: all are in this one.
  DeviceNetwork* network = nullptr;
  /// Infeed data per device, taken in order; what outfeed wrote is appended to outfeeds.
  std::vector<std::vector<Literal>> infeeds;
  /// In place of these queues, and for channels between programs; or null.
  std::shared_ptr<HostTransfers> host;
  /// What to do with custom-call targets nobody implements: error, zeros or identity, by target.
  llvm::StringMap<std::string> missing_custom_calls;
  /// Libraries that define custom-call targets, or null.
  std::shared_ptr<const CustomCallLibraries> custom_call_libraries;
  /// Requests to it stop the run; a token below that of the client that compiled the program. Null: that one.
  const StopToken* stop = nullptr;
  /// Called as work goes on, from any thread, with the instruction that is about to run.
  std::function<void(const Instruction&)> on_instruction;
  /// Called, after that and on the same thread, with the name of the library that does the instruction.
  std::function<void(llvm::StringRef)> on_library;
  /// Takes the times of the instructions of Executable::module(); or null.
  Profile* profile = nullptr;
};

struct ExecutionResult {
  std::vector<Literal> results;                // per device r * partitions + p; of those that ran
  std::vector<std::vector<Literal>> outfeeds;  // per device
};

/// The same of a run on values that may stay on devices; of a tuple its elements. Nothing of devices that did
/// not run.
struct DeviceResult {
  std::vector<std::vector<DeviceValue>> results;  // by device
  std::vector<std::vector<Literal>> outfeeds;     // by device
};
/// The elements of a tuple, or the value itself.
std::vector<DeviceValue> PartsOf(Literal result);

/// A program ready to run. Immutable: several threads may run it at once.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs the entry computation on arguments[device][parameter]. Errors at run time: id runtime-…, exit 6.
  virtual Result<ExecutionResult> Run(std::vector<std::vector<Literal>> arguments,
                                      const ExecutionOptions& options) const = 0;
  /// The same on values between runs: a backend that has memory of its own leaves results there, and takes
  /// arguments that are there. Errors: those of Run().
  virtual Result<DeviceResult> RunOnValues(std::vector<std::vector<DeviceValue>> arguments,
                                           const ExecutionOptions& options) const;
  /// What a run takes by the clock of the device, in ns, without what is copied to and from it: the median of
  /// some runs that follow each other. Nothing where the device has no clock of its own, for several
  /// devices, and where the host does a part or another run on the same memory would do something else.
  /// Errors: those of Run().
  virtual Result<std::optional<int64_t>> DeviceTime(const std::vector<std::vector<Literal>>& arguments,
                                                    const ExecutionOptions& options) const {
    (void)arguments, (void)options;
    return std::optional<int64_t>();
  }
  /// A run on arguments of so many bytes is to follow: what can be done before they are there may begin now,
  /// beside the caller. Only the first call counts, and only before the first run.
  virtual void Expect(int64_t argument_bytes) { (void)argument_bytes; }
  /// Whose instructions are run: what the backend has made of the source.
  [[nodiscard]] virtual const Module& module() const = 0;
  /// What a run takes of memory; nothing where that is not planned. Points to instructions of the program.
  [[nodiscard]] virtual std::optional<MemoryPlan> Memory() const { return std::nullopt; }
};

}  // namespace hlo
