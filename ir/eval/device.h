// One simulated device of a run, and what the devices of a run share.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "ir/eval/flow.h"
#include "ir/eval/host_transfers.h"
#include "ir/literal.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

class CustomCallLibraries;
class DeviceGroup;
class DeviceNetwork;

/// Where devices meet: an instruction, or (with none) a channel.
using MeetingPoint = std::pair<const Instruction*, int64_t>;
/// The channel of an instruction, where it has one, so that different instructions can meet; else itself.
MeetingPoint MeetingPointOf(const Instruction& inst);

/// State of one (replica, partition) context: its ids, random counters and host queues.
class Device {
 public:
  Device(DeviceGroup& group, int64_t replica, int64_t partition)
      : group_(group), replica_(replica), partition_(partition) {}
  [[nodiscard]] int64_t replica() const { return replica_; }
  [[nodiscard]] int64_t partition() const { return partition_; }
  /// replica * partitions + partition (ops-structured §12.1).
  [[nodiscard]] int64_t id() const;
  [[nodiscard]] DeviceGroup& group() const { return group_; }

  /// Seed of the module's own random instructions (`--rng-seed`).
  [[nodiscard]] uint64_t rng_seed() const;
  /// 128-bit counter of a stateful random instruction, (low, high), initially 0x7012395 (§8.2).
  std::pair<uint64_t, uint64_t>& RandomCounter(const Instruction& inst) {
    return counters_.try_emplace(&inst, 0x7012395, 0).first->second;
  }
  /// How often this device has come to this meeting point.
  int64_t NextOccurrence(const MeetingPoint& key) { return occurrences_[key]++; }

  std::list<Literal> infeed;  // without memory as long as it is empty
  std::vector<Literal> outfeed;
  /// The next value from the host, for `inst`. Errors: runtime-infeed, where the queue is empty or the value
  /// is none of `wanted`; those of HostTransfers.
  Result<Literal> FromHost(const Instruction& inst, const Shape& wanted);
  void ToHost(Literal value);

 private:
  DeviceGroup& group_;
  int64_t replica_, partition_;
  std::map<const Instruction*, std::pair<uint64_t, uint64_t>> counters_;
  std::map<MeetingPoint, int64_t> occurrences_;
};

/// The devices of a run and the place where they meet. Every collective is computed once, by the
/// member that arrives last, from contributions in rank order: results do not depend on timing.
class DeviceGroup {
 public:
  DeviceGroup(int64_t replicas, int64_t partitions, uint64_t rng_seed, std::chrono::milliseconds timeout);
  [[nodiscard]] int64_t replicas() const { return replicas_; }
  [[nodiscard]] int64_t partitions() const { return partitions_; }
  [[nodiscard]] int64_t size() const { return replicas_ * partitions_; }
  [[nodiscard]] uint64_t rng_seed() const { return rng_seed_; }
  /// What stands in for custom-call targets without implementation: "zeros", "identity" or "error".
  [[nodiscard]] std::string MissingCustomCall(llvm::StringRef target) const {
    const auto it = missing_custom_calls_.find(target);
    return it == missing_custom_calls_.end() ? "error" : it->second;
  }
  void SetMissingCustomCalls(llvm::StringMap<std::string> by_target) {
    missing_custom_calls_ = std::move(by_target);
  }
  /// Libraries that define custom-call targets, or null.
  [[nodiscard]] const CustomCallLibraries* custom_call_libraries() const { return libraries_.get(); }
  void SetCustomCallLibraries(std::shared_ptr<const CustomCallLibraries> libraries) {
    libraries_ = std::move(libraries);
  }
  /// In place of the devices' own queues, and for channels that other programs have an end of; or null.
  [[nodiscard]] HostTransfers* host() const { return host_.get(); }
  void SetHost(std::shared_ptr<HostTransfers> host) { host_ = std::move(host); }
  /// Some of the devices are in other processes; null: all are here.
  [[nodiscard]] DeviceNetwork* network() const { return network_; }
  void SpreadOver(DeviceNetwork* network) { network_ = network; }
  /// Only `id` runs: in reductions the others count as absent, elsewhere they bring zeros.
  void RunOnly(int64_t id);
  Device& device(int64_t id) { return *devices_[static_cast<size_t>(id)]; }

  using Values = std::vector<Literal>;
  /// From the members' contributions in rank order to the results of those of the ranks `to`, in their order:
  /// all members, or some. These contributions are what `to` needs, as Flow::Cut() makes it, and of elements
  /// that need nothing but themselves also pieces, of one dimension; empty of members that `to` does not need
  /// and, with a reducer, of those that do not run.
  using Combine = llvm::function_ref<Result<std::vector<Values>>(std::vector<Values>& contributions,
                                                                 llvm::ArrayRef<size_t> to)>;
  /// Meets the other `members` (device ids in rank order, `self` among them) at `inst` and returns this
  /// member's result. Blocks; fails if the members came with different ops or shapes, if all
  /// devices wait (deadlock), after the time-out, or when another device failed.
  Result<Values> Exchange(Device& self, const Instruction& inst, llvm::ArrayRef<int64_t> members,
                          Values contribution, Combine combine, const Flow& flow = {});

  /// Point to point: leaves a value for (channel, source, target) / takes it, waiting for it; through the
  /// host, where the channel is one of those.
  void Send(int64_t channel, int64_t source, int64_t target, Literal value);
  Result<Literal> Receive(Device& self, const Instruction& inst, int64_t channel, int64_t source);

  /// A device's program ended, well or with an error that stops the others.
  void Finish(Device& self);
  void Fail(const Diagnostic& why);
  /// The same for the devices of this process alone.
  void Stop(const Diagnostic& why);
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  /// An error, if a device that does `inst` had better stop: another one failed, or somebody asks for it.
  [[nodiscard]] Status CheckOn(const Instruction& inst) const;
  /// The first failure.
  [[nodiscard]] Diagnostic failure() const;

 private:
  struct Meeting {
    const Instruction* inst = nullptr;  // of the first to arrive
    std::vector<Values> contributions;
    std::vector<bool> arrived;
    size_t count = 0;
    size_t left = 0;  // members that took their result
    bool done = false;
    std::vector<Values> results;
  };
  struct Key {
    MeetingPoint what;
    std::vector<int64_t> members;
    int64_t occurrence;
    bool operator<(const Key& o) const {
      return std::tie(what, members, occurrence) < std::tie(o.what, o.members, o.occurrence);
    }
  };

  /// Waits until ready() holds; registers `self` as blocked at `inst` meanwhile.
  Status WaitUntil(std::unique_lock<std::mutex>& lock, Device& self, const Instruction& inst,
                   llvm::function_ref<bool()> ready);
  Diagnostic StuckError(bool all_wait) const;

  int64_t replicas_, partitions_;
  uint64_t rng_seed_;
  std::chrono::milliseconds timeout_;
  llvm::StringMap<std::string> missing_custom_calls_;
  std::shared_ptr<const CustomCallLibraries> libraries_;
  std::shared_ptr<HostTransfers> host_;
  DeviceNetwork* network_ = nullptr;
  llvm::SmallVector<std::unique_ptr<Device>, 1> devices_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Meeting> meetings_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::deque<Literal>> channels_;
  llvm::SmallVector<const Instruction*, 1> waiting_;  // by device: where it is blocked
  llvm::SmallVector<bool, 1> finished_;
  uint64_t progress_ = 0;  // grows with every arrival, send and completion
  bool alone_ = false;
  std::atomic<bool> failed_ = false;
  Diagnostic failure_;
};

}  // namespace hlo
