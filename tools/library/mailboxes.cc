#include "tools/library/mailboxes.h"

#include "ir/support/work.h"

namespace hlo_toolkit::internal {
namespace {

/// Channels that are asked for have numbers that no program chooses for itself.
constexpr int64_t kFirstChannel = int64_t{1} << 40;
/// A client that has done nothing for so long, while other processes have ended, is not going to send
/// anything.
constexpr std::chrono::milliseconds kIdle{10000};

}  // namespace

void Mailboxes::Push(const Key& key, hlo::Literal value) {
  {
    const std::lock_guard lock(mutex_);
    queues_[key].push_back(std::move(value));
  }
  arrived_.notify_all();
}

hlo::Result<hlo::Literal> Mailboxes::Pop(const Key& key, llvm::function_ref<hlo::Status()> check,
                                         llvm::function_ref<hlo::Status(const hlo::Shape&)> fits) {
  constexpr std::chrono::milliseconds kBetweenChecks{20};
  std::unique_lock lock(mutex_);
  std::deque<hlo::Literal>& queue = queues_[key];
  while (queue.empty()) {
    lock.unlock();
    HLO_CHECK_OK(check());
    lock.lock();
    if (queue.empty()) arrived_.wait_for(lock, kBetweenChecks);
  }
  if (fits) HLO_CHECK_OK(fits(queue.front().shape()));
  hlo::Literal value = std::move(queue.front());
  queue.pop_front();
  return value;
}

int64_t Mailboxes::NewChannel() {
  const std::lock_guard lock(mutex_);
  return kFirstChannel + channels_++;
}

bool Mailboxes::HasChannel(int64_t channel) const {
  const std::lock_guard lock(mutex_);
  return channel >= kFirstChannel && channel - kFirstChannel < channels_;
}

void Mailboxes::Send(int64_t channel, int64_t source, int64_t target, hlo::Literal value) {
  if (processes_ != nullptr)
    processes_->SendThrough({number_, channel, source, target}, std::move(value));
  else
    Push({Kind::Channel, channel, source, target}, std::move(value));
}

size_t Mailboxes::WaitingRuns() const {
  const std::lock_guard lock(mutex_);
  return std::set<const hlo::StopToken*>(waiting_.begin(), waiting_.end()).size();
}

hlo::Result<hlo::Literal> Mailboxes::Receive(int64_t channel, int64_t source, int64_t target,
                                             hlo::HostTransfers::Check check) {
  if (processes_ == nullptr) return Pop({Kind::Channel, channel, source, target}, check);
  using Clock = std::chrono::steady_clock;
  const hlo::StopToken* const mine = hlo::CurrentWork().stop;
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(mine);
  }
  std::optional<uint64_t> begun_before;
  Clock::time_point last_busy;
  // While the client does anything else, or has begun something, it may come to send.
  const auto may_send = [&] {
    const uint64_t ended = activity_->ended;  // first: what ends meanwhile counts as under way
    const uint64_t begun = activity_->begun;
    if (begun != begun_before || begun - ended > WaitingRuns()) last_busy = Clock::now();
    begun_before = begun;
    return Clock::now() - last_busy < kIdle;
  };
  auto value = processes_->ReceiveThrough({number_, channel, source, target}, check, may_send);
  const std::lock_guard lock(mutex_);
  waiting_.erase(waiting_.find(mine));
  return value;
}

hlo::Result<hlo::Literal> ProgramMailbox::Take(int64_t device, Check check) {
  return boxes_->Pop({Mailboxes::Kind::Infeed, NumberOf(device), 0, 0}, check);
}

// Values may lie in the memory of the run, which ends.

void ProgramMailbox::Put(int64_t device, hlo::Literal value) {
  boxes_->Push({Mailboxes::Kind::Outfeed, NumberOf(device), 0, 0}, value.Copy());
}

void ProgramMailbox::Send(int64_t channel, int64_t source, int64_t target, hlo::Literal value) {
  boxes_->Send(channel, source, target, value.Copy());
}

hlo::Result<hlo::Literal> ProgramMailbox::Receive(int64_t channel, int64_t source, int64_t target,
                                                  Check check) {
  return boxes_->Receive(channel, source, target, check);
}

}  // namespace hlo_toolkit::internal
