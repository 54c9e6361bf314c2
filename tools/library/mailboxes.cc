#include "tools/library/mailboxes.h"

namespace hlo_toolkit::internal {
namespace {

/// Channels that are asked for have numbers that no program chooses for itself.
constexpr int64_t kFirstChannel = int64_t{1} << 40;

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

void Mailboxes::ExpectSendsOf(const hlo::Module& module) const {
  if (processes_ == nullptr) return;
  for (const auto& computation : module.computations())
    for (const hlo::Instruction* inst : computation->instructions())
      if (const auto [none, channel] = hlo::MeetingPointOf(*inst);
          inst->kind() == hlo::OpKind::Send && none == nullptr && HasChannel(channel))
        processes_->WillSend(client_, channel);
}

void Mailboxes::Send(int64_t channel, int64_t source, int64_t target, hlo::Literal value) {
  if (processes_ != nullptr)
    processes_->SendThrough({client_, channel, source, target}, std::move(value));
  else
    Push({Kind::Channel, channel, source, target}, std::move(value));
}

hlo::Result<hlo::Literal> Mailboxes::Receive(int64_t channel, int64_t source, int64_t target,
                                             hlo::HostTransfers::Check check) {
  if (processes_ != nullptr) return processes_->ReceiveThrough({client_, channel, source, target}, check);
  return Pop({Kind::Channel, channel, source, target}, check);
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
