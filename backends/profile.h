// Where the time of executions goes, by instruction (tools.md §3.5, --profile).
#pragma once
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ir/eval/executor.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// What a device that counts did: the emulated GPU, see backends/gpu/emulator.
struct DeviceCounts {
  uint64_t launches = 0;
  uint64_t sectors = 0, fewest_sectors = 0;              // of global memory
  uint64_t bytes_read = 0, bytes_written = 0;            // of it, as kernels asked for them
  uint64_t shared_cycles = 0, fewest_shared_cycles = 0;  // more than fewest: conflicts of banks
  uint64_t branches = 0, divergent_branches = 0;         // of warps
};

/// Times of instructions, summed over calls, devices and runs. Devices may add theirs at the same time.
class Profile {
 public:
  struct Entry {
    int64_t calls = 0;
    int64_t time_ns = 0;     // without the instructions that have entries of their own
    bool has_parts = false;  // loops, branches, calls: some of what it does stands in other entries
    std::string library;     // that did it; empty: none
  };
  using Entries = llvm::DenseMap<const Instruction*, Entry>;

  /// Measures one run on one device, and adds what it found when it goes.
  class Recorder final : public InstructionListener {
   public:
    /// `counts`: what the device has done so far, or null.
    explicit Recorder(Profile& profile, std::function<DeviceCounts()> counts = nullptr)
        : profile_(profile), counts_(std::move(counts)) {}
    ~Recorder() override;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    bool Begin(const Instruction& inst) override;
    Status End(const Instruction& inst) override;
    /// What the innermost instruction that has begun took by the clock of the device, in ns: the time until
    /// End() is not looked at.
    void Took(int64_t ns) {
      if (!open_.empty()) open_.back().device_ns = ns;
    }
    /// A library does the innermost instruction that has begun.
    void DoneBy(llvm::StringRef library) {
      if (!open_.empty()) open_.back().library = library.str();
    }

   private:
    using Clock = std::chrono::steady_clock;
    struct Open {
      Clock::time_point begin;
      int64_t inner_ns = 0;  // of instructions within
      std::optional<int64_t> device_ns = std::nullopt;
      bool has_parts = false;
      DeviceCounts counts = {};
      std::string library = {};
    };
    Profile& profile_;
    std::function<DeviceCounts()> counts_;
    Clock::time_point start_ = Clock::now();
    std::vector<Open> open_;
    bool within_op_ = false;  // computations that an op applies are part of it
    Entries entries_;
    llvm::DenseMap<const Instruction*, DeviceCounts> counted_;
  };

  [[nodiscard]] const Entries& entries() const { return entries_; }
  /// What the device counted of instructions without parts; of one run, whatever runs() says.
  [[nodiscard]] const llvm::DenseMap<const Instruction*, DeviceCounts>& counts() const { return counts_; }
  /// Time that the devices took from beginning to end.
  [[nodiscard]] int64_t device_ns() const { return device_ns_; }
  [[nodiscard]] int64_t runs() const { return runs_; }
  /// One more run is over, on however many devices.
  void CountRun() { ++runs_; }
  /// As if there had been so many runs like the one.
  void CountAs(int64_t runs);

 private:
  std::mutex mutex_;
  Entries entries_;
  llvm::DenseMap<const Instruction*, DeviceCounts> counts_;
  int64_t device_ns_ = 0, runs_ = 0;
};

}  // namespace hlo
