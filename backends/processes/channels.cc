#include "backends/processes/channels.h"

#include "ir/support/interrupt.h"

namespace hlo::processes {
namespace {

/// After a message about channels the next one is looked for often, for so long.
constexpr std::chrono::milliseconds kAwake{1000};

}  // namespace

void Channels::Send(const ChannelKey& key, Literal value) {
  MakeOffer(key, std::move(value), /*again=*/false);
  // Nobody may be waiting here, who would carry it.
  engine_.Wake();
}

void Channels::MakeOffer(const ChannelKey& key, Literal value, bool again) {
  engine_.StayAwake(kAwake);
  const uint64_t number = next_number_++;
  std::optional<WireValue> small;
  if (Engine::FitsMessage(value)) {
    Engine::Tickets tickets;
    std::vector<Literal> kept;
    small = engine_.SendValue(0, value, tickets, kept);
  } else {
    held_[number] = std::move(value);
  }
  engine_.Post(0, Pack(MessageKind::Offer, key, number, again, std::move(small)));
}

Result<Literal> Channels::Receive(Lock& lock, const ChannelKey& key, HostTransfers::Check check,
                                  llvm::function_ref<bool()> may_send) {
  Box& box = boxes_[key];
  const bool wants = box.arrived.size() <= box.waiting++;
  if (wants) {
    box.in_vain.reset();
    engine_.Post(0, Pack(MessageKind::Want, key));
  }
  const auto asked = [&]() -> Status {
    if (auto trouble = engine_.Trouble(/*at_once=*/Interrupted())) return Error(std::move(*trouble));
    HLO_CHECK_OK(check());
    if (box.in_vain && !may_send()) return Error(*box.in_vain);
    return {};
  };
  Status status = engine_.Await(lock, [&] { return !box.arrived.empty(); }, asked);
  --box.waiting;
  if (!status) {
    engine_.Post(0, Pack(MessageKind::Unwant, key));
    if (box.arrived.size() > box.waiting) surplus_.insert(key);
    return Error(std::move(status).error());
  }
  Arrived arrived = std::move(box.arrived.front());
  box.arrived.pop_front();
  status = engine_.Await(lock, [&] { return engine_.Done(arrived.tickets); }, asked);
  if (status) return std::move(arrived.value);
  box.arrived.push_front(std::move(arrived));
  if (box.arrived.size() > box.waiting) surplus_.insert(key);
  return Error(std::move(status).error());
}

void Channels::Handle(int from, MessageKind kind, BinaryReader& message) {
  engine_.StayAwake(kAwake);
  ChannelKey key;
  if (!Unpack(message, key)) return;
  switch (kind) {
    case MessageKind::Offer: {
      Offer offer{from, 0, {}};
      bool again = false;
      ArchiveAll(message, offer.number, again, offer.small);
      if (message.failed()) break;
      std::deque<Offer>& offers = queues_[key].offers;
      offers.insert(again ? offers.begin() : offers.end(), std::move(offer));
      Match(key);
      break;
    }
    case MessageKind::Want:
      queues_[key].wanted_by.push_back(from);
      ++wanted_;
      Match(key);
      break;
    case MessageKind::Unwant: {
      // If it is not there any more, the value is on its way, and comes back.
      std::deque<int>& wanted_by = queues_[key].wanted_by;
      const auto last = llvm::find(llvm::reverse(wanted_by), from);
      if (last == wanted_by.rend()) break;
      wanted_by.erase(std::next(last).base());
      --wanted_;
      break;
    }
    case MessageKind::Take: {
      int64_t to = 0;
      uint64_t number = 0;
      ArchiveAll(message, to, number);
      Give(static_cast<int>(to), key, number);
      break;
    }
    case MessageKind::Given: {
      WireValue value;
      if (!Unpack(message, value)) break;
      Arrived arrived;
      arrived.value = engine_.ReceiveValue(from, value, arrived.tickets);
      Arrive(key, std::move(arrived));
      break;
    }
    case MessageKind::InVain:
      if (WireDiagnostic why; Unpack(message, why)) boxes_[key].in_vain = FromWire(why, {});
      break;
    default: break;
  }
}

void Channels::Match(const ChannelKey& key) {
  Queue& queue = queues_[key];
  while (!queue.offers.empty() && !queue.wanted_by.empty()) {
    Offer offer = std::move(queue.offers.front());
    queue.offers.pop_front();
    const int to = queue.wanted_by.front();
    queue.wanted_by.pop_front();
    --wanted_;
    if (offer.small)
      engine_.Post(to, Pack(MessageKind::Given, key, std::move(*offer.small)));
    else
      engine_.Post(offer.from, Pack(MessageKind::Take, key, int64_t{to}, offer.number));
  }
  if (!only_left_) return;
  for (const int rank : queue.wanted_by)
    if (rank == only_left_->first) engine_.Post(rank, Pack(MessageKind::InVain, key, only_left_->second));
}

void Channels::OnlyLeft(int rank, const Diagnostic& why) {
  only_left_ = {rank, ToWire(why)};
  for (const auto& [key, queue] : queues_) Match(key);
}

void Channels::Give(int to, const ChannelKey& key, uint64_t number) {
  const auto found = held_.find(number);
  if (found == held_.end()) return;
  Literal value = std::move(found->second);
  held_.erase(found);
  if (to == engine_.rank()) return Arrive(key, {std::move(value), {}});
  Engine::Tickets tickets;
  std::vector<Literal> kept;
  WireValue wire = engine_.SendValue(to, value, tickets, kept);
  engine_.Post(to, Pack(MessageKind::Given, key, std::move(wire)));
  engine_.Keep(std::move(kept), std::move(tickets));
}

void Channels::Arrive(const ChannelKey& key, Arrived arrived) {
  Box& box = boxes_[key];
  box.arrived.push_back(std::move(arrived));
  if (box.arrived.size() > box.waiting) surplus_.insert(key);
  engine_.Wake();
}

void Channels::ReturnSurplus() {
  for (auto it = surplus_.begin(); it != surplus_.end();) {
    Box& box = boxes_[*it];
    while (box.arrived.size() > box.waiting && engine_.Done(box.arrived.back().tickets)) {
      MakeOffer(*it, std::move(box.arrived.back().value), /*again=*/true);
      box.arrived.pop_back();
    }
    it = box.arrived.size() > box.waiting ? std::next(it) : surplus_.erase(it);
  }
}

void Channels::Look() {
  ReturnSurplus();
  if (wanted_ != 0) engine_.StayAwake(kAwake);
}

}  // namespace hlo::processes
