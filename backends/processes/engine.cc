#include "backends/processes/engine.h"

#include <sched.h>

#include "ir/support/parallel.h"
#include "llvm/Support/ErrorHandling.h"

namespace hlo::processes {
namespace {

using Clock = Peers::Clock;
/// Values up to that travel within messages, which MPI sends at once.
constexpr size_t kSmall = 2048;
/// Who waits looks all the time for so long after something has come, then in between naps.
constexpr std::chrono::microseconds kEager{300}, kNap{100};
/// How often the engine's own thread looks: while memory is on its way, and otherwise.
constexpr std::chrono::microseconds kBusyLook{200}, kIdleLook{10000};
/// Memory that has not moved for so long is not on its way.
constexpr std::chrono::milliseconds kStale{500};

/// Calls `f` with each array of a value.
void ForEachArray(const Literal& value, llvm::function_ref<void(const Literal&)> f) {
  if (value.shape().IsArray()) f(value);
  for (const Literal& element : value.elements()) ForEachArray(element, f);
}

}  // namespace

Engine::Engine(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), next_tag_(static_cast<size_t>(transport_->size())) {}

void Engine::Start(Handler handler, std::function<void()> watch) {
  handler_ = std::move(handler);
  watch_ = std::move(watch);
  // Not before somebody handles what comes.
  thread_ = QuietThread([this] {
    Lock lock = Acquire();
    while (!closed_) {
      Turn();
      Look();
      const auto now = Clock::now();
      const bool busy = now < awake_until_ || (!kept_.empty() && now - kept_moved_ < kStale);
      changed_.wait_for(lock, busy ? kBusyLook : kIdleLook);
    }
  });
}

Engine::~Engine() {
  {
    const Lock lock = Acquire();
    closed_ = true;
    Wake();
  }
  if (thread_.joinable()) thread_.join();
}

void Engine::Watch(std::vector<Identity> all) { peers_ = std::make_unique<Peers>(rank(), std::move(all)); }

bool Engine::FindGone(bool at_once) {
  if (peers_->gone()) return true;
  if (!blamed_ && !peers_->FindGone(Clock::now(), at_once)) return false;
  // Who has found it before and ended has said so before that.
  Turn();
  if (blamed_) peers_->Blame(*blamed_);
  const int gone = *peers_->gone();
  for (int to = 0; to < size(); ++to)
    if (to != rank() && to != gone) Post(to, Pack(MessageKind::Dead, int64_t{gone}));
  Turn();
  return true;
}

std::optional<Diagnostic> Engine::Trouble(bool at_once) {
  const std::optional<int> lost = transport_->lost();
  if (peers_ && lost) peers_->Lose(*lost);
  if (peers_ && FindGone(at_once || lost))
    return MakeError("runtime-collective-timeout", {}, "{0} {1}", peers_->Name(*peers_->gone()),
                     peers_->HowGone());
  if (lost)
    return MakeError("runtime-collective-timeout", {}, "process {0} of {1} has died, or its connection has",
                     *lost, size());
  if (!transport_->error().empty())
    return MakeError("runtime-collective-timeout", {}, "{0}", transport_->error());
  return std::nullopt;
}

void Engine::Post(int to, const std::string& message) {
  if (to == rank())
    to_itself_.push_back(message);
  else
    transport_->Post(to, message);
}

void Engine::PostAll(const std::string& message) {
  for (int to = 0; to < size(); ++to) Post(to, message);
}

int32_t Engine::NewTag(int to) {
  int32_t& next = next_tag_[static_cast<size_t>(to)];
  const int32_t tag = next;
  next = (next + 1) % transport_->tags();
  return tag;
}

void Engine::Send(int to, int32_t tag, const void* data, size_t bytes, Tickets& tickets, size_t piece) {
  const auto* at = static_cast<const char*>(data);
  for (size_t begin = 0; begin < bytes; begin += piece)
    tickets.push_back(transport_->Send(to, tag, at + begin, std::min(piece, bytes - begin)));
}

void Engine::Receive(int from, int32_t tag, void* data, size_t bytes, Tickets& tickets, size_t piece) {
  auto* at = static_cast<char*>(data);
  for (size_t begin = 0; begin < bytes; begin += piece)
    tickets.push_back(transport_->Receive(from, tag, at + begin, std::min(piece, bytes - begin)));
}

bool Engine::Done(Tickets& tickets) {
  llvm::erase_if(tickets, [&](Transport::Ticket ticket) { return transport_->Done(ticket); });
  return tickets.empty();
}

bool Engine::FitsMessage(const Literal& value) {
  size_t bytes = 0;
  ForEachArray(value, [&](const Literal& part) { bytes += part.Unpack().byte_size(); });
  return bytes <= kSmall;
}

WireValue Engine::SendValue(int to, const Literal& value, Tickets& tickets, std::vector<Literal>& kept) {
  WireValue wire{value.shape(), {}};
  ForEachArray(value, [&](const Literal& part) {
    const Literal array = part.Unpack();
    WireArray& sent = wire.arrays.emplace_back();
    if (array.HasDynamicSizes())
      for (int64_t d = 0; d < array.shape().rank(); ++d) sent.dynamic_sizes.push_back(array.DynamicSize(d));
    sent.bytes = array.byte_size();
    if (sent.bytes <= kSmall) {
      sent.small.assign(reinterpret_cast<const char*>(array.data()), sent.bytes);
      return;
    }
    sent.tag = NewTag(to);
    Send(to, sent.tag, array.data(), sent.bytes, tickets);
    kept.push_back(array);
  });
  return wire;
}

Literal Engine::ReceiveValue(int from, const WireValue& wire, Tickets& tickets) {
  size_t next = 0;
  const auto make = [&](const auto& self, const Shape& shape) -> Literal {
    if (shape.IsTuple()) {
      std::vector<Literal> elements;
      for (const Shape& part : shape.tuple_shapes()) elements.push_back(self(self, part));
      return Literal::MakeTuple(std::move(elements));
    }
    Literal value = Literal::Make(shape);
    if (!shape.IsArray()) return value;
    if (next == wire.arrays.size()) llvm::report_fatal_error("a value has come without one of its arrays");
    const WireArray& sent = wire.arrays[next++];
    for (size_t d = 0; d < sent.dynamic_sizes.size(); ++d)
      value.SetDynamicSize(static_cast<int64_t>(d), sent.dynamic_sizes[d]);
    if (sent.bytes != value.byte_size() || (sent.tag < 0 && sent.small.size() != sent.bytes))
      llvm::report_fatal_error("an array has come with other bytes than its shape has");
    if (sent.tag < 0)
      std::memcpy(value.MutableData(), sent.small.data(), sent.small.size());
    else
      Receive(from, sent.tag, value.MutableData(), sent.bytes, tickets);
    return value;
  };
  return make(make, wire.shape);
}

void Engine::Keep(std::vector<Literal> values, Tickets tickets) {
  if (Done(tickets)) return;
  kept_.push_back({std::move(values), std::move(tickets)});
  kept_moved_ = Clock::now();
}

Status Engine::Await(Lock& lock, llvm::function_ref<bool()> ready, llvm::function_ref<Status()> check) {
  auto last = Clock::now();
  for (;;) {
    if (ready()) return {};
    HLO_CHECK_OK(check());
    const bool came = Turn();
    const auto now = Clock::now();
    if (came) last = now;
    if (came || now - last < kEager) {
      lock.unlock();
      sched_yield();
      lock.lock();
    } else {
      changed_.wait_for(lock, kNap);
    }
  }
}

bool Engine::Turn() {
  bool came = false;
  const auto handle_own = [&] {
    while (!to_itself_.empty()) {
      for (const std::string& message : std::exchange(to_itself_, {})) Handle(rank(), message);
      came = true;
    }
  };
  // What follows from a message is known before the next one.
  handle_own();
  while (const std::optional<Transport::Message> message = transport_->Next()) {
    Handle(message->from, message->text);
    came = true;
    handle_own();
  }
  if (const size_t before = kept_.size(); before != 0) {
    llvm::erase_if(kept_, [&](Kept& kept) { return Done(kept.tickets); });
    if (kept_.size() != before) kept_moved_ = Clock::now();
  }
  if (came) Wake();
  return came;
}

void Engine::Handle(int from, llvm::StringRef text) {
  if (peers_) peers_->Heard(from, Clock::now());
  BinaryReader reader(text);
  const auto kind = static_cast<MessageKind>(reader.Number());
  if (kind == MessageKind::Dead) {
    int64_t dead = 0;
    if (Unpack(reader, dead) && dead >= 0 && dead < size() && dead != rank() && !blamed_)
      blamed_ = static_cast<int>(dead);
  } else if (kind != MessageKind::Beat && handler_) {
    handler_(from, kind, reader);
  }
}

void Engine::Look() {
  if (!peers_) return;
  const auto now = Clock::now();
  for (const int to : peers_->DueBeats(now)) Post(to, Pack(MessageKind::Beat));
  if (watch_) watch_();
}

void Engine::Close(Lock& lock) {
  closed_ = true;
  Wake();
  lock.unlock();
  if (thread_.joinable()) thread_.join();
  lock.lock();
  transport_->Close();
}

}  // namespace hlo::processes
