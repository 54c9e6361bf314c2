#include "backends/processes/run.h"

#include "backends/processes/meeting.h"
#include "ir/support/interrupt.h"

namespace hlo::processes {
namespace {

using Clock = Peers::Clock;
/// So long nothing has to happen before devices that wait are called stuck.
constexpr std::chrono::milliseconds kQuiet{200};
/// After a request to stop, how long the processes may take to agree why, and memory to arrive.
constexpr std::chrono::milliseconds kPatience{2000}, kDrain{200};

}  // namespace

Run::Run(Engine& engine, uint64_t number, DeviceGroup& group, llvm::ArrayRef<SourcePtr> sources,
         std::chrono::milliseconds timeout, StopToken& stop)
    : engine_(engine),
      number_(number),
      group_(group),
      sources_(sources.begin(), sources.end()),
      timeout_(timeout),
      stop_(stop),
      last_progress_(Clock::now()),
      judge_(engine.size(), group.partitions(), sources_, timeout) {
  for (int64_t d = 0; d < group.size(); ++d)
    if (IsHere(d)) places_[d];
}

Run::~Run() = default;

void Run::Stop(const Diagnostic& why) {
  if (failure_ || ended_well_) return;
  failure_ = why;
  group_.Stop(why);
  stop_.Request(InterruptCause::Signal);
  engine_.Wake();
}

void Run::Fail(const Diagnostic& why) {
  const Lock lock = engine_.Acquire();
  if (!failure_) Tell(0, MessageKind::Failed, ToWire(why));
}

void Run::Finish(const Device& self) {
  const Lock lock = engine_.Acquire();
  places_[self.id()] = {DevicePlace::Finished, nullptr};
  Progress();
  engine_.Wake();
}

Status Run::Check() {
  if (failure_) return Error(*failure_);
  if (group_.failed()) return Error(group_.failure());
  const bool interrupted = Interrupted();
  if (auto trouble = engine_.Trouble(/*at_once=*/interrupted)) {
    for (const auto& [device, place] : places_)
      if (place.state == DevicePlace::Waits)
        trouble->Note(place.at->loc(),
                      llvm::formatv("device {0} waits in %{1}", device, place.at->name()).str());
    Stop(*trouble);
    return Error(*trouble);
  }
  return interrupted ? Status(Error(InterruptedError())) : Status();
}

Status Run::WaitFor(Lock& lock, const Device& self, const Instruction& inst, llvm::function_ref<bool()> ready,
                    bool moving) {
  Place& place = places_[self.id()];
  if (!moving) place = {DevicePlace::Waits, &inst};
  Status status = engine_.Await(lock, ready, [&]() -> Status {
    HLO_CHECK_OK(Check());
    const auto now = Clock::now();
    if (now - last_progress_ > timeout_ && (!late_ || now - *late_ > timeout_)) {
      late_ = now;
      Tell(0, MessageKind::Late);
    }
    return {};
  });
  place = {DevicePlace::Runs, nullptr};
  Progress();
  return status;
}

void Run::Drain(Lock& lock, Engine::Tickets tickets, std::vector<Literal> kept) {
  const auto end = Clock::now() + kDrain;
  // What cannot arrive any more stays where it is.
  (void)engine_
      .Await(
          lock, [&] { return engine_.Done(tickets) || Clock::now() > end; }, [] { return Status(); })
      .has_value();
  engine_.Keep(std::move(kept), std::move(tickets));
}

void Run::Send(int64_t channel, int64_t source, int64_t target, const Literal& value) {
  const Lock lock = engine_.Acquire();
  Progress();
  if (IsHere(target)) {
    channels_[{channel, source, target}].push_back({value, {}});
    engine_.Wake();
    return;
  }
  Engine::Tickets tickets;
  std::vector<Literal> kept;
  const int to = Owner(target);
  Tell(to, MessageKind::Value,
       WireSent{channel, source, target, engine_.SendValue(to, value, tickets, kept)});
  ++sent_;
  engine_.Keep(std::move(kept), std::move(tickets));
}

void Run::HandleSent(int from, BinaryReader& message) {
  WireSent sent;
  if (!Unpack(message, sent)) return;
  ++received_;
  Received received;
  received.value = engine_.ReceiveValue(from, sent.value, received.tickets);
  channels_[{sent.channel, sent.source, sent.target}].push_back(std::move(received));
  Progress();
}

Result<Literal> Run::Receive(Device& self, const Instruction& inst, int64_t channel, int64_t source) {
  Lock lock = engine_.Acquire();
  auto& queue = channels_[{channel, source, self.id()}];
  HLO_CHECK_OK(WaitFor(lock, self, inst, [&] { return !queue.empty(); }));
  HLO_CHECK_OK(
      WaitFor(lock, self, inst, [&] { return engine_.Done(queue.front().tickets); }, /*moving=*/true));
  Literal value = std::move(queue.front().value);
  queue.pop_front();
  return value;
}

Status Run::End() {
  Lock lock = engine_.Acquire();
  Tell(0, MessageKind::Ended);
  std::optional<Clock::time_point> asked;
  Status waited = engine_.Await(
      lock, [&] { return failure_ || ended_well_; },
      [&]() -> Status {
        if (Status status = Check(); status || failure_) return {};
        if (!asked) asked = Clock::now();
        if (Clock::now() - *asked < kPatience) return {};
        return Error(group_.failed() ? group_.failure() : InterruptedError());
      });
  Engine::Tickets tickets;
  std::vector<Literal> kept;
  // Values that nobody has received are received here.
  for (auto& [channel, queue] : channels_)
    for (Received& received : queue) {
      tickets.insert(tickets.end(), received.tickets.begin(), received.tickets.end());
      kept.push_back(std::move(received.value));
    }
  if (!tickets.empty()) Drain(lock, std::move(tickets), std::move(kept));
  // Of meetings that have not come about, what was brought may still be read.
  for (auto& [key, meeting] : meetings_) {
    engine_.Keep(std::move(meeting->sent), std::move(meeting->sends));
    for (const Meeting::Member& member : meeting->members)
      if (member.arrival && !meeting->received) Discard(engine_, member.from, *member.arrival);
  }
  if (failure_) return Error(*failure_);
  return waited;
}

WireReport Run::MakeReport(uint64_t round) const {
  const auto quiet = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - last_progress_);
  WireReport report{round, IsStuck(), static_cast<uint64_t>(quiet.count()), sent_, received_, {}};
  for (const auto& [device, place] : places_) {
    WirePlace& wire = report.places.emplace_back(WirePlace{device, place.state, "", {}});
    if (place.at == nullptr) continue;
    wire.instruction = place.at->name().str();
    wire.loc = ToWire(place.at->loc());
  }
  return report;
}

bool Run::IsStuck() const {
  return Clock::now() - last_progress_ > kQuiet &&
         llvm::none_of(places_, [](const auto& p) { return p.second.state == DevicePlace::Runs; });
}

void Run::Look() {
  if (failure_ || ended_well_) return;
  if (auto trouble = engine_.Trouble()) (void)Check().has_value();
  const std::pair counts(sent_, received_);
  if (IsStuck() && reported_ != counts) {
    reported_ = counts;
    Tell(0, MessageKind::Report, MakeReport(asked_));
  }
  if (engine_.rank() == 0) Consider();
}

void Run::Decide(const WireDiagnostic& verdict) {
  if (std::exchange(decided_, true)) return;
  engine_.PostAll(Pack(MessageKind::Verdict, number_, verdict));
}

void Run::Consider() {
  if (const auto found = judge_.Finding(Clock::now())) Decide(ToWire(*found));
  if (auto question = judge_.TakeQuestion())
    engine_.PostAll(Pack(MessageKind::Ask, number_, question->first, question->second));
}

void Run::Handle(int from, MessageKind kind, BinaryReader& message) {
  switch (kind) {
    case MessageKind::Arrival: HandleArrival(from, message); break;
    case MessageKind::Value: HandleSent(from, message); break;
    case MessageKind::Ended:
      if (judge_.End(from)) Decide({});
      break;
    case MessageKind::Failed:
      if (WireDiagnostic why; Unpack(message, why)) Decide(why);
      break;
    case MessageKind::Late:
      judge_.BeLate(Clock::now());
      Consider();
      break;
    case MessageKind::Report:
      if (WireReport report; Unpack(message, report)) judge_.Take(from, std::move(report));
      Consider();
      break;
    case MessageKind::Ask: {
      bool of_all = false;
      ArchiveAll(message, asked_, of_all);
      reported_.reset();
      if (!of_all && !IsStuck()) break;
      reported_ = {sent_, received_};
      Tell(0, MessageKind::Report, MakeReport(asked_));
      break;
    }
    case MessageKind::Verdict:
      if (WireDiagnostic verdict; Unpack(message, verdict)) {
        if (verdict.id.empty())
          ended_well_ = true;
        else
          Stop(FromWire(verdict, sources_));
        engine_.Wake();
      }
      break;
    default: break;
  }
}

}  // namespace hlo::processes
