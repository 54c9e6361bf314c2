#include "backends/processes/processes.h"

#include "backends/processes/mpi_transport.h"
#include "backends/processes/tcp_transport.h"
#include "ir/support/build_id.h"
#include "ir/support/interrupt.h"

namespace hlo::processes {
namespace {

using Clock = Peers::Clock;
/// How long, after a request to stop, the last words of other processes are waited for.
constexpr std::chrono::milliseconds kPatience{2000};

bool BelongsToRun(MessageKind kind) { return kind <= MessageKind::Verdict; }

/// The bytes that a reader has not read.
std::string RestOf(BinaryReader reader) {
  std::string rest;
  while (!reader.at_end()) rest += *reader.Bytes(1);
  return rest;
}

/// What a process tells the others of itself; `program`: only processes of one program understand each other.
struct Hello {
  std::string host, domain, program;
  int64_t pid = 0;
};
HLO_BINARY_MEMBERS(Hello, v.host, v.domain, v.program, v.pid)

}  // namespace

Processes::Processes(std::unique_ptr<Transport> transport) : engine_(std::move(transport)) {
  const Engine::Lock lock = engine_.Acquire();
  engine_.Start([this](int from, MessageKind kind, BinaryReader& message) { Handle(from, kind, message); },
                [this] {
                  for (const auto& [group, run] : runs_) run->Look();
                  channels_.Look();
                });
}

Processes::~Processes() = default;

Result<std::unique_ptr<Processes>> Processes::Join(const LaunchOptions& options) {
  HLO_TRY(const std::optional<Launch> launch, FindLaunch(options));
  const bool alone = !launch || launch->size == 1;
  if (alone && options.launcher != Launcher::Mpi) return std::unique_ptr<Processes>();
  if (!options.coordinator.empty()) {
    HLO_TRY(std::unique_ptr<Transport> transport,
            JoinTcp({static_cast<int>(launch->rank), static_cast<int>(launch->size), options.coordinator,
                     options.timeout}));
    return Join(std::move(transport));
  }
  // MPI itself may end the process.
  if (launch && launch->size > 1 && !launch->has_mpi)
    return Error("unavailable-mpi", {},
                 "no MPI: {0} has started {1} processes and told MPI nothing of them; start them with srun "
                 "--mpi=pmix, or give --coordinator",
                 launch->by, launch->size);
  HLO_TRY(std::unique_ptr<Transport> transport, JoinMpi());
  if (launch && launch->size != transport->size())
    return Error("unavailable-mpi", {}, "no MPI: {0} knows of {1} processes, the MPI of the plugin of {2}",
                 launch->by, launch->size, transport->size());
  if (launch && launch->rank != transport->rank())
    return Error("unavailable-mpi", {}, "no MPI: by {0} this is process {1}, by the MPI of the plugin {2}",
                 launch->by, launch->rank, transport->rank());
  return Join(std::move(transport));
}

Result<std::unique_ptr<Processes>> Processes::Join(std::unique_ptr<Transport> transport) {
  std::unique_ptr<Processes> all(new Processes(std::move(transport)));
  Identity self = Identity::OfThisProcess();
  Hello hello{self.host, self.domain, std::string(BuildId()), self.pid};
  BinaryWriter writer;
  Archive(writer, hello);
  HLO_TRY(const std::vector<std::string> texts, all->Share(std::move(writer).Take()));
  std::vector<Identity> identities;
  for (size_t r = 0; r < texts.size(); ++r) {
    BinaryReader reader(texts[r]);
    Hello other;
    Archive(reader, other);
    if (reader.failed() || other.program != hello.program)
      return Error("unavailable-mpi", {}, "no MPI: process {0} runs another build of the program", r);
    identities.push_back({other.host, other.pid, other.domain});
  }
  std::vector<int> unwatched;
  {
    const Engine::Lock lock = all->engine_.Acquire();
    all->engine_.Watch(std::move(identities));
    unwatched = all->engine_.peers()->Unwatched();
  }
  HLO_CHECK_OK(all->ShareBeats(std::move(unwatched)));
  return all;
}

Status Processes::ShareBeats(std::vector<int> unwatched) {
  BinaryWriter writer;
  Archive(writer, unwatched);
  HLO_TRY(const std::vector<std::string> texts, Share(std::move(writer).Take()));
  std::vector<int> wanted_by;
  for (size_t r = 0; r < texts.size(); ++r) {
    BinaryReader reader(texts[r]);
    std::vector<int> ranks;
    Archive(reader, ranks);
    if (llvm::is_contained(ranks, rank())) wanted_by.push_back(static_cast<int>(r));
  }
  const Engine::Lock lock = engine_.Acquire();
  engine_.peers()->SetBeatsWantedBy(std::move(wanted_by));
  return {};
}

std::optional<Diagnostic> Processes::Early() const {
  for (const auto& [rank, last] : last_)
    if (rank != this->rank())
      return MakeError("runtime-collective-timeout", {},
                       "process {0} of {1} has ended early, with exit code {2}", rank, size(),
                       last.exit_code);
  return std::nullopt;
}

void Processes::HandleLeft(int from, BinaryReader& message) {
  Last last;
  ArchiveAll(message, last.exit_code, last.text);
  last_[from] = std::move(last);
  // The first process tells the others, whose runs cannot go on: that it comes to its end itself, too.
  if (Leads() && (from == rank() || !concluding_))
    for (int to = 1; to < size(); ++to)
      if (to != from) engine_.Post(to, Pack(MessageKind::Gone, int64_t{from}, last_[from].exit_code));
  TellChannels();
  StopRuns();
}

void Processes::StopRuns() {
  if (const auto early = Early())
    for (const auto& [group, run] : runs_) run->Stop(*early);
}

void Processes::TellChannels() {
  if (!Leads() || last_.size() + 1 != static_cast<size_t>(size())) return;
  int left = 0;
  while (last_.contains(left)) ++left;
  const auto& [rank, last] = *last_.begin();
  channels_.OnlyLeft(left, MakeError("runtime-collective-timeout", {},
                                     "process {0} of {1} has ended, with exit code {2}, and nobody has sent "
                                     "what is waited for",
                                     rank, size(), last.exit_code));
}

void Processes::Handle(int from, MessageKind kind, BinaryReader& message) {
  if (BelongsToRun(kind)) {
    const BinaryReader behind_kind = message;
    const uint64_t number = message.Number();
    const auto found = llvm::find_if(runs_, [&](const auto& run) { return run.second->number() == number; });
    if (found != runs_.end())
      found->second->Handle(from, kind, message);
    else if (number > run_number_)
      early_.emplace_back(from, Pack(kind) + RestOf(behind_kind));
    else
      Run::Discard(engine_, from, kind, message);
    return;
  }
  switch (kind) {
    case MessageKind::Part: {
      uint64_t number = 0;
      std::string text;
      ArchiveAll(message, number, text);
      auto& parts = parts_[number];
      parts[from] = std::move(text);
      if (parts.size() < static_cast<size_t>(size())) break;
      std::vector<std::string> all;
      for (auto& [rank, part] : parts) all.push_back(std::move(part));
      parts_.erase(number);
      engine_.PostAll(Pack(MessageKind::Whole, number, all));
      break;
    }
    case MessageKind::Whole: {
      uint64_t number = 0;
      std::vector<std::string> all;
      ArchiveAll(message, number, all);
      shared_[number] = std::move(all);
      break;
    }
    case MessageKind::Result: {
      Arriving arriving;
      Archive(message, arriving.wire);
      if (message.failed()) break;
      arriving.value = engine_.ReceiveValue(from, arriving.wire.value, arriving.tickets);
      for (const WireValue& value : arriving.wire.outfeed)
        arriving.outfeed.push_back(engine_.ReceiveValue(from, value, arriving.tickets));
      results_.push_back(std::move(arriving));
      break;
    }
    case MessageKind::Left: HandleLeft(from, message); break;
    case MessageKind::Gone: {
      int64_t rank = 0;
      Last last;
      ArchiveAll(message, rank, last.exit_code);
      last_[static_cast<int>(rank)] = std::move(last);
      StopRuns();
      break;
    }
    case MessageKind::Bye: {
      int64_t exit_code = 0;
      Archive(message, exit_code);
      exit_code_ = exit_code;
      break;
    }
    case MessageKind::Offer:
    case MessageKind::Want:
    case MessageKind::Unwant:
    case MessageKind::Take:
    case MessageKind::InVain:
    case MessageKind::Given: channels_.Handle(from, kind, message); break;
    default: break;
  }
}

Status Processes::Check() {
  const bool interrupted = Interrupted();
  if (auto trouble = engine_.Trouble(interrupted)) return Error(std::move(*trouble));
  if (auto early = Early()) return Error(std::move(*early));
  return interrupted ? Status(Error(InterruptedError())) : Status();
}

Result<std::vector<std::string>> Processes::Share(const std::string& mine) {
  Engine::Lock lock = engine_.Acquire();
  const uint64_t number = ++share_number_;
  engine_.Post(0, Pack(MessageKind::Part, number, mine));
  HLO_CHECK_OK(engine_.Await(lock, [&] { return shared_.contains(number); }, [&] { return Check(); }));
  std::vector<std::string> all = std::move(shared_[number]);
  shared_.erase(number);
  return all;
}

Result<std::string> Processes::FromFirst(const std::string& mine) {
  HLO_TRY(std::vector<std::string> all, Share(Leads() ? mine : ""));
  return std::move(all.front());
}

Status Processes::AgreeToRun(Status mine, const Module* program) {
  const std::string own = mine ? std::to_string(Fingerprint(*program)) : "";
  HLO_TRY(const std::vector<std::string> all, Share(own));
  if (!mine) return mine;
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].empty())
      return Error("runtime-collective-timeout", {}, "process {0} of {1} cannot run the module", r,
                   all.size());
    if (all[r] != own)
      return Error("runtime-collective-mismatch", {},
                   "process {0} has another program: another module, other options, or another processor", r);
  }
  return {};
}

Status Processes::Collect(ExecutionResult& result) {
  Engine::Lock lock = engine_.Acquire();
  const auto devices = static_cast<int64_t>(result.results.size());
  if (!Leads()) {
    Engine::Tickets tickets;
    std::vector<Literal> kept;
    for (int64_t d = 0; d < devices; ++d) {
      if (!IsHere(d, devices)) continue;
      const auto at = static_cast<size_t>(d);
      WireResult wire{d, engine_.SendValue(0, result.results[at], tickets, kept), {}};
      for (const Literal& value : result.outfeeds[at])
        wire.outfeed.push_back(engine_.SendValue(0, value, tickets, kept));
      engine_.Post(0, Pack(MessageKind::Result, wire));
    }
    const auto sent = [&] { return engine_.Done(tickets); };
    return engine_.Await(lock, sent, [&] { return Check(); });
  }
  const auto missing = static_cast<size_t>(devices - devices / size());
  const auto all = [&] {
    return results_.size() == missing &&
           llvm::all_of(results_, [&](Arriving& a) { return engine_.Done(a.tickets); });
  };
  HLO_CHECK_OK(engine_.Await(lock, all, [&] { return Check(); }));
  for (Arriving& a : results_) {
    const auto at = static_cast<size_t>(a.wire.device);
    if (at >= result.results.size()) continue;
    result.results[at] = std::move(a.value);
    result.outfeeds[at] = std::move(a.outfeed);
  }
  results_.clear();
  return {};
}

void Processes::SendThrough(const ChannelKey& key, Literal value) {
  const Engine::Lock lock = engine_.Acquire();
  channels_.Send(key, std::move(value));
}

Result<Literal> Processes::ReceiveThrough(const ChannelKey& key, HostTransfers::Check check,
                                          llvm::function_ref<bool()> may_send) {
  Engine::Lock lock = engine_.Acquire();
  return channels_.Receive(lock, key, check, may_send);
}

int Processes::Conclude(int exit_code, const std::string& text, llvm::raw_ostream& err) {
  Engine::Lock lock = engine_.Acquire();
  concluding_ = true;
  engine_.Post(0, Pack(MessageKind::Left, int64_t{exit_code}, Leads() ? std::string() : text));
  std::optional<Clock::time_point> asked;
  const auto check = [&]() -> Status {
    const bool interrupted = Interrupted();
    if (auto trouble = engine_.Trouble(interrupted)) return Error(std::move(*trouble));
    if (!interrupted) return {};
    if (!asked) asked = Clock::now();
    return Clock::now() - *asked < kPatience ? Status() : Status(Error(InterruptedError()));
  };
  const auto all_left = [&] { return last_.size() == static_cast<size_t>(size()); };
  Status status = Leads() ? engine_.Await(lock, all_left, check) : Status();
  if (status && Leads()) {
    int64_t greatest = 0;
    for (const auto& [rank, last] : last_) greatest = std::max(greatest, last.exit_code);
    std::vector<std::string> said = {text};
    for (const auto& [rank, last] : last_) {
      if (last.text.empty() || llvm::is_contained(said, last.text)) continue;
      said.push_back(last.text);
      for (const llvm::StringRef line : llvm::split(llvm::StringRef(last.text).rtrim('\n'), '\n'))
        err << "process " << rank << ": " << line << '\n';
    }
    err.flush();
    engine_.PostAll(Pack(MessageKind::Bye, greatest));
  }
  if (status) status = engine_.Await(lock, [&] { return exit_code_.has_value(); }, check);
  if (status) {
    engine_.StopWatching();
    engine_.Close(lock);
    return static_cast<int>(*exit_code_);
  }
  // Some cannot be asked: the first of those that can speaks.
  const bool speaks = engine_.peers() == nullptr || !engine_.peers()->gone()
                          ? Leads()
                          : engine_.peers()->FirstAlive() == rank();
  if (speaks && !Leads()) err << text;
  if (speaks && text.find(status.error().message) == std::string::npos)
    err << "error: " << status.error().message << '\n';
  err.flush();
  return std::max(exit_code, static_cast<int>(DiagnosticInfo::Of(status.error().id).exit));
}

uint64_t Processes::NextPlace() {
  const std::lock_guard lock(places_);
  return next_place_++;
}

void Processes::Enter(uint64_t place, const Module& module) {
  std::unique_lock lock(places_);
  passed_.wait(lock, [&] { return place_ == place; });
  entered_ = true;
  sources_.assign(module.sources().begin(), module.sources().end());
}

void Processes::PassPlace() {
  const std::lock_guard lock(places_);
  if (!std::exchange(entered_, false)) return;
  ++place_;
  passed_.notify_all();
}

void Processes::Leave(uint64_t place, const Status& why) {
  {
    const std::lock_guard lock(places_);
    if (place_ != place) return;
  }
  {
    const Engine::Lock lock = engine_.Acquire();
    ++run_number_;
    GiveUpRun(why ? MakeError("runtime-collective-timeout", {}, "process {0} has not begun the run", rank())
                  : why.error());
  }
  PassPlace();
}

void Processes::GiveUpRun(const Diagnostic& why) {
  if (Leads())
    engine_.PostAll(Pack(MessageKind::Verdict, run_number_, ToWire(why)));
  else
    engine_.Post(0, Pack(MessageKind::Failed, run_number_, ToWire(why)));
  TakeEarly();
}

void Processes::TakeEarly() {
  for (const auto& [from, text] : std::exchange(early_, {})) {
    BinaryReader reader(text);
    const auto kind = static_cast<MessageKind>(reader.Number());
    Handle(from, kind, reader);
  }
}

Status Processes::Begin(DeviceGroup& group, std::chrono::milliseconds timeout, StopToken& stop) {
  const Engine::Lock lock = engine_.Acquire();
  // Runs are counted where they cannot begin, too.
  ++run_number_;
  Status can = Check();
  if (can && group.size() % size() != 0)
    can = Error("usage-devices", {}, "{0} processes cannot share {1} devices evenly", size(), group.size());
  if (can) {
    runs_[&group] = std::make_unique<Run>(engine_, run_number_, group, sources_, timeout, stop);
    TakeEarly();
  } else {
    GiveUpRun(can.error());
  }
  PassPlace();
  return can;
}

bool Processes::IsHere(int64_t device, int64_t devices) const {
  return devices % size() != 0 || OwnerOf(device, devices, size()) == rank();
}

Run& Processes::RunOf(const DeviceGroup& group) {
  const Engine::Lock lock = engine_.Acquire();
  return *runs_.at(&group);
}

Status Processes::End(DeviceGroup& group) {
  Status status = RunOf(group).End();
  const Engine::Lock lock = engine_.Acquire();
  runs_.erase(&group);
  return status;
}

Result<Processes::Values> Processes::Exchange(Device& self, const Instruction& inst,
                                              llvm::ArrayRef<int64_t> members, Values contribution,
                                              DeviceGroup::Combine combine, const Flow& flow) {
  return RunOf(self.group()).Exchange(self, inst, members, std::move(contribution), combine, flow);
}
void Processes::Send(DeviceGroup& group, int64_t channel, int64_t source, int64_t target, Literal value) {
  RunOf(group).Send(channel, source, target, value);
}
Result<Literal> Processes::Receive(Device& self, const Instruction& inst, int64_t channel, int64_t source) {
  return RunOf(self.group()).Receive(self, inst, channel, source);
}
void Processes::Finish(Device& self) { RunOf(self.group()).Finish(self); }
void Processes::Fail(DeviceGroup& group, const Diagnostic& why) { RunOf(group).Fail(why); }

}  // namespace hlo::processes
