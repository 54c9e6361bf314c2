// An emulated device: memory, modules in it, launches of their kernels.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/gpu/emulator/device_memory.h"
#include "backends/gpu/emulator/fault.h"
#include "backends/gpu/emulator/fiber.h"
#include "backends/gpu/emulator/races.h"
#include "backends/gpu/ptx/module.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// What kernels did, summed over launches.
struct Counts {
  uint64_t launches = 0, blocks = 0, threads = 0;
  uint64_t sectors = 0, fewest_sectors = 0;              // of 32 bytes of global memory, per warp and access
  uint64_t bytes_read = 0, bytes_written = 0;            // of global memory, as asked for
  uint64_t shared_cycles = 0, fewest_shared_cycles = 0;  // more than fewest: bank conflicts
  uint64_t branches = 0, divergent_branches = 0;         // of warps, where a predicate decides
  uint64_t atomics = 0, barriers = 0;
};

struct DeviceOptions {
  uint64_t memory = uint64_t{1} << 30;
  unsigned sm = 90;
  bool check_races = true;
  bool count = false;
  uint64_t seed = 0;  // order of blocks, warps and lanes; 0: as they are numbered
};

/// Limits of a target (ptx.md §7).
struct TargetLimits {
  unsigned sm;
  uint64_t shared_per_block;  // with opt-in
};
const TargetLimits& LimitsOf(unsigned sm);

/// What graphs decide by, and kernels set.
struct Condition {
  uint32_t value = 0, initial = 0;
  bool assigned = false;        // `initial`, when the graph is launched
  bool set = false;             // since then, by that or by a kernel
  bool used = false;            // there is a node that decides by it
  const void* graph = nullptr;  // that it was made for
};
using Conditions = std::map<uint64_t, Condition>;

struct LaunchSize {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  uint64_t dynamic_shared = 0;
};

class Device;
struct Thread;
using KernelCode = void(Thread* thread);

/// A PTX module with its variables in device memory and its kernels as code of the host.
class LoadedModule {
 public:
  /// Errors: unsupported-op for instructions that are not emulated, compile-kernels, limit-memory.
  static Result<std::unique_ptr<LoadedModule>> Load(std::shared_ptr<const ptx::Module> module,
                                                    Device& device);
  ~LoadedModule();
  [[nodiscard]] const ptx::Module& module() const;
  /// Address and size of a variable of the module; nothing: there is none.
  [[nodiscard]] std::optional<std::pair<uint64_t, uint64_t>> FindVariable(llvm::StringRef name) const;

 private:
  friend class Device;
  struct State;
  explicit LoadedModule(std::unique_ptr<State> state);
  static Status PlaceVariables(State& s);
  /// Of all kernels, or of one.
  static Status Compile(State& s, const ptx::Function* only);
  /// The code of a kernel that has taken so long up to now.
  static KernelCode* CodeOf(State& s, const ptx::Function& entry, std::chrono::steady_clock::duration more);
  std::unique_ptr<State> state_;
};

class Device {
 public:
  /// Errors: limit-memory.
  static Result<std::unique_ptr<Device>> Create(const DeviceOptions& options);
  [[nodiscard]] DeviceMemory& memory() { return memory_; }
  [[nodiscard]] const DeviceOptions& options() const { return options_; }
  [[nodiscard]] Counts& counts() { return counts_; }
  /// Why a kernel cannot be launched so: the empty string if it can.
  [[nodiscard]] std::string CheckLaunch(const ptx::Function& entry, const LaunchSize& size) const;
  /// Runs all blocks; `params` are as long as the entry's parameters. What went wrong first ends the launch.
  Fault Launch(const LoadedModule& module, const ptx::Function& entry, const LaunchSize& size,
               const uint8_t* params);

  // For what runs blocks.
  [[nodiscard]] RaceTable& races() { return races_; }
  [[nodiscard]] StackPool& stacks() { return stacks_; }
  /// When a block that had fenced last did an atomic operation, by address.
  [[nodiscard]] std::map<uint64_t, uint32_t>& released() { return released_; }
  [[nodiscard]] uint32_t Tick() { return ++time_; }
  [[nodiscard]] uint32_t time() const { return time_; }
  /// Those of the graph that is being done; null: none is.
  [[nodiscard]] Conditions* conditions() const { return conditions_; }
  void SetConditions(Conditions* conditions) { conditions_ = conditions; }
  /// Whether kernels are to end because the process was asked to stop; those of graphs soon, so that who
  /// ends their loops has time for it.
  [[nodiscard]] bool MustStop();
  /// What of other streams is not ordered before the work that is being done.
  [[nodiscard]] Concurrent& concurrent() { return concurrent_; }
  /// Whether there are streams whose work could meet: copies are looked at only then.
  void SetSeveralStreams(bool several) { several_streams_ = several; }
  /// A copy or fill reads or writes bytes; which race with what other streams do. What is wrong with that.
  Fault Touch(uint64_t address, uint64_t bytes, bool store);

 private:
  explicit Device(const DeviceOptions& options) : options_(options) {}
  DeviceOptions options_;
  DeviceMemory memory_;
  RaceTable races_;
  StackPool stacks_;
  Counts counts_;
  std::map<uint64_t, uint32_t> released_;
  Concurrent concurrent_;
  Conditions* conditions_ = nullptr;
  std::optional<std::chrono::steady_clock::time_point> asked_to_stop_;
  bool several_streams_ = false;
  uint32_t time_ = 0;
};

}  // namespace hlo::gpu
