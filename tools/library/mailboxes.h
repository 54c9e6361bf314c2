// Values on their way between programs and the host.
#pragma once
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "backends/client/client.h"
#include "backends/processes/processes.h"

namespace hlo_toolkit::internal {

/// Queues of values, by what they are for. Threads share it.
class Mailboxes {
 public:
  /// Of `client`. Channels have ends in `processes`, too, where it has that number; null: in this one alone.
  Mailboxes(const hlo::Client& client, hlo::processes::Processes* processes, uint64_t number)
      : activity_(client.activity()), processes_(processes), number_(number) {}

  enum class Kind : uint8_t { Infeed, Outfeed, Channel };
  /// Of infeeds and outfeeds: the client's device. Of channels: number, source and target.
  using Key = std::tuple<Kind, int64_t, int64_t, int64_t>;

  void Push(const Key& key, hlo::Literal value);
  /// Waits for a value and takes it. Errors: those of `check`, which is asked again and again, and of `fits`,
  /// for whose sake the value stays.
  hlo::Result<hlo::Literal> Pop(const Key& key, llvm::function_ref<hlo::Status()> check,
                                llvm::function_ref<hlo::Status(const hlo::Shape&)> fits = nullptr);

  /// A channel that has no other use; the same number in all processes that ask in the same order.
  int64_t NewChannel();
  [[nodiscard]] bool HasChannel(int64_t channel) const;
  void Send(int64_t channel, int64_t source, int64_t target, hlo::Literal value);
  /// Waits. Errors: those of `check`; runtime-collective-timeout, of other processes.
  hlo::Result<hlo::Literal> Receive(int64_t channel, int64_t source, int64_t target,
                                    hlo::HostTransfers::Check check);

 private:
  /// Runs that wait in Receive(), with a device or several.
  [[nodiscard]] size_t WaitingRuns() const;

  std::shared_ptr<const hlo::ClientActivity> activity_;
  hlo::processes::Processes* processes_;
  uint64_t number_;
  std::multiset<const hlo::StopToken*> waiting_;  // what stops each device that does
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<Key, std::deque<hlo::Literal>> queues_;
  int64_t channels_ = 0;
};

/// The end of a program whose devices have these numbers at the client. Its channels count devices as the
/// program does.
class ProgramMailbox final : public hlo::HostTransfers {
 public:
  ProgramMailbox(std::shared_ptr<Mailboxes> boxes, std::vector<int> devices)
      : boxes_(std::move(boxes)), devices_(std::move(devices)) {}
  hlo::Result<hlo::Literal> Take(int64_t device, Check check) override;
  void Put(int64_t device, hlo::Literal value) override;
  [[nodiscard]] bool Connects(int64_t channel) const override { return boxes_->HasChannel(channel); }
  void Send(int64_t channel, int64_t source, int64_t target, hlo::Literal value) override;
  hlo::Result<hlo::Literal> Receive(int64_t channel, int64_t source, int64_t target, Check check) override;

 private:
  [[nodiscard]] int64_t NumberOf(int64_t device) const { return devices_[static_cast<size_t>(device)]; }
  std::shared_ptr<Mailboxes> boxes_;
  std::vector<int> devices_;
};

}  // namespace hlo_toolkit::internal
