#include "backends/processes/meeting.h"

namespace hlo::processes {
namespace {

using Values = DeviceGroup::Values;
/// From so many bytes on, each process computes a part of what all members get.
constexpr size_t kFewBytes = size_t{32} << 10;

Shape Flat(const Shape& shape, int64_t size) {
  return Shape::ArrayWithDefaultLayout(shape.element_type(), {size});
}

int64_t Width(const Literal& value) { return Info(value.shape().element_type()).host_bytes(); }

/// The elements of a range without copying them; the value outlives them.
Literal View(const Literal& value, Range range) {
  return Literal::Borrow(Flat(value.shape(), range.size), value.data() + range.begin * Width(value), nullptr);
}

bool ComeInPieces(llvm::ArrayRef<Literal> values, size_t processes) {
  size_t bytes = 0;
  for (const Literal& value : values) {
    // By the shape: sizes that differ from process to process decide nothing.
    if (!value.shape().IsArray() || value.shape().HasDynamicDimension() ||
        value.shape().ElementCount() < static_cast<int64_t>(processes))
      return false;
    bytes += value.byte_size();
  }
  return processes > 1 && bytes >= kFewBytes;
}

std::string KeyOf(Device& self, const Instruction& inst, llvm::ArrayRef<int64_t> members) {
  const MeetingPoint where = MeetingPointOf(inst);
  std::string key = where.first != nullptr
                        ? llvm::formatv("{0}/{1}", where.first->parent()->name(), where.first->name()).str()
                        : llvm::formatv("channel {0}", where.second).str();
  for (const int64_t member : members) key += " " + std::to_string(member);
  return key + " #" + std::to_string(self.NextOccurrence(where));
}

}  // namespace

std::vector<int> Run::ProcessesOf(llvm::ArrayRef<int64_t> members) const {
  std::vector<int> processes;
  for (const int64_t member : members) processes.push_back(Owner(member));
  llvm::sort(processes);
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  return processes;
}

Run::Meeting& Run::MeetingAt(const std::string& key, size_t members) {
  std::unique_ptr<Meeting>& meeting = meetings_[key];
  if (!meeting) meeting = std::make_unique<Meeting>();
  if (meeting->members.size() < members) meeting->members.resize(members);
  return *meeting;
}

Status Run::CheckFit(const Meeting& meeting, size_t rank) const {
  const Meeting::Member& mine = meeting.members[rank];
  for (size_t other = 0; other < meeting.members.size(); ++other) {
    const Meeting::Member& member = meeting.members[other];
    if (other == rank || !member.brought) continue;
    const bool fits = member.brought->kind == mine.brought->kind && member.in_pieces == mine.in_pieces &&
                      SameShapes(member.brought->shapes, mine.brought->shapes);
    if (!fits && mine.inst != nullptr)
      return Error(MismatchError(*mine.inst, *mine.brought, *member.brought));
    if (!fits && member.inst != nullptr)
      return Error(MismatchError(*member.inst, *member.brought, *mine.brought));
  }
  return {};
}

std::vector<size_t> Run::RanksIn(int process, llvm::ArrayRef<int64_t> members) const {
  std::vector<size_t> ranks;
  for (size_t m = 0; m < members.size(); ++m)
    if (Owner(members[m]) == process) ranks.push_back(m);
  return ranks;
}

void Run::Announce(Meeting& meeting, const WireArrival& arrival, llvm::ArrayRef<int64_t> members,
                   const Flow& flow) {
  const std::vector<int> processes = ProcessesOf(members);
  const Values& values = meeting.members[arrival.rank].values;
  const bool is_first = RanksIn(engine_.rank(), members).front() == arrival.rank;
  for (size_t p = 0; p < processes.size(); ++p) {
    const int to = processes[p];
    if (to == engine_.rank()) continue;
    WireArrival mine = arrival;
    for (const Literal& value : values) {
      mine.shapes.push_back({value.shape()});
      if (!meeting.in_pieces) continue;
      mine.pieces.push_back(engine_.NewTag(to));
      mine.results.push_back(engine_.NewTag(to));
      const Range part = PartOf(value.shape().ElementCount(), p, processes.size());
      const int64_t width = Width(value);
      mine.piece_bytes.push_back(static_cast<uint64_t>(part.size * width));
      engine_.Send(to, mine.pieces.back(), value.data() + part.begin * width, mine.piece_bytes.back(),
                   meeting.sends, PieceBytes(width));
    }
    if (const std::vector<size_t> ranks = RanksIn(to, members);
        !meeting.in_pieces && flow.Needs(arrival.rank, ranks))
      for (const Literal& value : flow.Cut(values, ranks, members.size()))
        mine.values.push_back(engine_.SendValue(to, value, meeting.sends, meeting.sent));
    if (is_first) meeting.result_tags[to] = mine.results;
    Tell(to, MessageKind::Arrival, std::move(mine));
    ++sent_;
  }
  if (meeting.in_pieces) meeting.sent.insert(meeting.sent.end(), values.begin(), values.end());
}

void Run::HandleArrival(int from, BinaryReader& message) {
  WireArrival arrival;
  constexpr uint64_t kMostMembers = 1 << 20;
  if (!Unpack(message, arrival) || arrival.rank >= kMostMembers) return;
  ++received_;
  Progress();
  Meeting& meeting = MeetingAt(arrival.key, arrival.rank + 1);
  Meeting::Member& member = meeting.members[arrival.rank];
  member.brought = {arrival.device, static_cast<OpKind>(arrival.kind), {}};
  for (const WireShape& shape : arrival.shapes) member.brought->shapes.push_back(shape.shape);
  member.in_pieces = arrival.in_pieces;
  const size_t rank = arrival.rank;
  member.from = from;
  member.arrival = std::move(arrival);
  if (const Status fits = CheckFit(meeting, rank); !fits)
    Tell(0, MessageKind::Failed, ToWire(fits.error()));
  else
    ++meeting.arrived;
}

void Run::Discard(Engine& engine, int from, const WireArrival& arrival) {
  std::vector<Literal> values;
  Engine::Tickets tickets;
  for (const WireValue& value : arrival.values) values.push_back(engine.ReceiveValue(from, value, tickets));
  for (size_t v = 0; v < arrival.pieces.size(); ++v) {
    const auto bytes = static_cast<int64_t>(arrival.piece_bytes[v]);
    values.push_back(Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::U8, {bytes})));
    const int64_t width = Info(arrival.shapes[v].shape.element_type()).host_bytes();
    engine.Receive(from, arrival.pieces[v], values.back().MutableData(), arrival.piece_bytes[v], tickets,
                   PieceBytes(width));
  }
  engine.Keep(std::move(values), std::move(tickets));
}

void Run::Discard(Engine& engine, int from, MessageKind kind, BinaryReader& message) {
  if (WireArrival arrival; kind == MessageKind::Arrival && Unpack(message, arrival))
    Discard(engine, from, arrival);
  if (WireSent sent; kind == MessageKind::Value && Unpack(message, sent)) {
    Engine::Tickets tickets;
    std::vector<Literal> values = {engine.ReceiveValue(from, sent.value, tickets)};
    engine.Keep(std::move(values), std::move(tickets));
  }
}

Result<Values> Run::Exchange(Device& self, const Instruction& inst, llvm::ArrayRef<int64_t> members,
                             Values contribution, DeviceGroup::Combine combine, const Flow& flow) {
  Lock lock = engine_.Acquire();
  HLO_CHECK_OK(Check());
  const std::string key = KeyOf(self, inst, members);
  Meeting& meeting = MeetingAt(key, members.size());
  const auto rank = static_cast<size_t>(llvm::find(members, self.id()) - members.begin());
  Meeting::Member& mine = meeting.members[rank];
  mine.inst = &inst;
  mine.brought = {self.id(), inst.kind(), ShapesOf(contribution)};
  mine.values = std::move(contribution);
  for (Literal& value : mine.values) value = value.Unpack();
  Progress();
  mine.in_pieces = flow.kind == Flow::Elements && ComeInPieces(mine.values, ProcessesOf(members).size());
  if (const Status fits = CheckFit(meeting, rank); !fits) {
    lock.unlock();
    group_.Fail(fits.error());
    return Error(fits.error());
  }
  ++meeting.arrived;
  meeting.in_pieces = mine.in_pieces;
  WireArrival arrival{key, self.id(), rank, static_cast<uint64_t>(inst.kind()), meeting.in_pieces, {}, {},
                      {},  {},        {}};
  Announce(meeting, arrival, members, flow);
  const std::vector<size_t> here = RanksIn(engine_.rank(), members);
  if (++meeting.here < here.size()) {
    HLO_CHECK_OK(WaitFor(lock, self, inst, [&] { return meeting.done; }));
  } else {
    HLO_CHECK_OK(WaitFor(lock, self, inst, [&] { return meeting.arrived == members.size(); }));
    HLO_CHECK_OK(Complete(lock, {self, inst, meeting, members, here}, combine, flow));
  }
  Values result = std::move(meeting.results[rank]);
  if (++meeting.taken == here.size()) meetings_.erase(key);
  return result;
}

Status Run::Complete(Lock& lock, const Coming& coming, DeviceGroup::Combine combine, const Flow& flow) {
  Meeting& meeting = coming.meeting;
  meeting.received = true;
  auto results =
      meeting.in_pieces ? CombinePieces(lock, coming, combine) : CombineWhole(lock, coming, combine, flow);
  Status sent = results ? WaitFor(
                              lock, coming.self, coming.inst, [&] { return engine_.Done(meeting.sends); },
                              /*moving=*/true)
                        : Status(Error(results.error()));
  if (!sent) {
    Drain(lock, std::move(meeting.sends), std::move(meeting.sent));
    return sent;
  }
  meeting.results.resize(coming.members.size());
  for (size_t i = 0; i < coming.here.size(); ++i) meeting.results[coming.here[i]] = std::move((*results)[i]);
  meeting.sent.clear();
  meeting.done = true;
  engine_.Wake();
  return {};
}

Status Run::CheckSent(const Coming& coming, size_t rank, const Flow& flow) const {
  const Meeting::Member& member = coming.meeting.members[rank];
  std::vector<Shape> sent, wanted;
  for (const WireValue& value : member.arrival->values) sent.push_back(value.shape);
  const std::vector<Shape> brought =
      flow.kind == Flow::Operands && member.brought->shapes.size() != coming.members.size()
          ? std::vector<Shape>()
          : member.brought->shapes;
  if (flow.Needs(rank, coming.here) && !brought.empty())
    wanted = flow.Cut(brought, coming.here, coming.members.size());
  if (SameShapes(sent, wanted)) return {};
  return Error(
      "runtime-collective-mismatch", coming.inst.loc(),
      "device {0} comes to {1} with other attributes than device {2}: it does not send what that needs",
      member.brought->device, ToString(coming.inst.kind()), coming.self.id());
}

Result<std::vector<Values>> Run::CombineWhole(Lock& lock, const Coming& coming, DeviceGroup::Combine combine,
                                              const Flow& flow) {
  std::vector<Values> all;
  Engine::Tickets tickets;
  Status moved;
  for (size_t m = 0; m < coming.members.size(); ++m) {
    Meeting::Member& member = coming.meeting.members[m];
    Values& values = all.emplace_back();
    if (!member.arrival) {
      if (flow.Needs(m, coming.here)) values = flow.Cut(member.values, coming.here, coming.members.size());
      member.values.clear();
      continue;
    }
    if (Status fits = CheckSent(coming, m, flow); !fits) moved = std::move(fits);
    for (const WireValue& value : member.arrival->values)
      values.push_back(engine_.ReceiveValue(member.from, value, tickets));
  }
  if (moved) {
    moved = WaitFor(lock, coming.self, coming.inst, [&] { return engine_.Done(tickets); }, /*moving=*/true);
  } else {
    Tell(0, MessageKind::Failed, ToWire(moved.error()));
    group_.Stop(moved.error());
  }
  if (!moved) {
    std::vector<Literal> kept;
    for (Values& values : all) llvm::move(values, std::back_inserter(kept));
    Drain(lock, std::move(tickets), std::move(kept));
    return Error(std::move(moved).error());
  }
  lock.unlock();
  Result<std::vector<Values>> results = combine(all, coming.here);
  if (!results) group_.Fail(results.error());
  lock.lock();
  return results;
}

/// The part of the results that this process computes, piece by piece.
struct Run::Part {
  Run& run;
  Meeting& meeting;
  llvm::ArrayRef<int64_t> members;
  std::vector<int> processes;
  size_t me;                       // among them
  const Values& like;              // what a member of this process brings
  std::vector<Values> buffers[2];  // pieces of members of other processes
  Engine::Tickets arriving[2];
  Values results;
  Engine::Tickets moving;  // results

  [[nodiscard]] size_t values() const { return like.size(); }
  [[nodiscard]] Range All(size_t value, size_t process) const {
    return PartOf(like[value].shape().ElementCount(), process, processes.size());
  }
  /// Of a part, the piece of that number; of no elements behind its end.
  [[nodiscard]] Range Piece(size_t value, size_t process, int64_t number) const {
    const Range part = All(value, process);
    const int64_t most = kPieceBytes / Width(like[value]);
    const int64_t begin = std::min(number * most, part.size);
    return {part.begin + begin, std::min(most, part.size - begin)};
  }
  [[nodiscard]] int64_t Pieces() const {
    int64_t count = 0;
    for (size_t v = 0; v < values(); ++v)
      count = std::max(count, llvm::divideCeilSigned(All(v, me).size, kPieceBytes / Width(like[v])));
    return count;
  }
  void Receive(int64_t number);
  std::vector<Values> Take(int64_t number);
  void ReceiveResults();
  void SendResults(const Values& made, int64_t number);
};

void Run::Part::Receive(int64_t number) {
  std::vector<Values>& into = buffers[number % 2];
  into.resize(members.size());
  for (size_t m = 0; m < members.size(); ++m) {
    const auto& arrival = meeting.members[m].arrival;
    if (!arrival) continue;
    for (size_t v = 0; v < values(); ++v) {
      const Range piece = Piece(v, me, number);
      if (into[m].size() == v) into[m].push_back(Literal::Make(Flat(like[v].shape(), Piece(v, me, 0).size)));
      run.engine_.Receive(run.Owner(members[m]), arrival->pieces[v], into[m][v].MutableData(),
                          static_cast<size_t>(piece.size * Width(like[v])), arriving[number % 2]);
    }
  }
}

std::vector<Values> Run::Part::Take(int64_t number) {
  std::vector<Values> all(members.size());
  for (size_t m = 0; m < members.size(); ++m)
    for (size_t v = 0; v < values(); ++v) {
      const Range piece = Piece(v, me, number);
      all[m].push_back(meeting.members[m].arrival ? View(buffers[number % 2][m][v], {0, piece.size})
                                                  : View(meeting.members[m].values[v], piece));
    }
  return all;
}

void Run::Part::ReceiveResults() {
  for (size_t p = 0; p < processes.size(); ++p) {
    if (p == me) continue;
    const auto first = llvm::find_if(members, [&](int64_t m) { return run.Owner(m) == processes[p]; });
    const WireArrival& arrival = *meeting.members[static_cast<size_t>(first - members.begin())].arrival;
    for (size_t v = 0; v < values(); ++v) {
      const int64_t width = Width(results[v]), most = kPieceBytes / Width(like[v]) * width;
      const Range part = All(v, p);
      run.engine_.Receive(processes[p], arrival.results[v], results[v].MutableData() + part.begin * width,
                          static_cast<size_t>(part.size * width), moving, static_cast<size_t>(most));
    }
  }
}

void Run::Part::SendResults(const Values& made, int64_t number) {
  for (size_t v = 0; v < values(); ++v) {
    const Range piece = Piece(v, me, number);
    const int64_t width = Width(results[v]);
    uint8_t* const to = results[v].MutableData() + piece.begin * width;
    const auto bytes = static_cast<size_t>(piece.size * width);
    if (bytes > 0) std::memcpy(to, made[v].data(), bytes);
    for (size_t p = 0; p < processes.size(); ++p)
      if (p != me) run.engine_.Send(processes[p], meeting.result_tags[processes[p]][v], to, bytes, moving);
  }
}

Result<std::vector<Values>> Run::CombinePieces(Lock& lock, const Coming& coming,
                                               DeviceGroup::Combine combine) {
  const Values& like = coming.meeting.members[coming.here.front()].values;
  Part part{*this, coming.meeting, coming.members, ProcessesOf(coming.members), 0, like, {}, {}, {}, {}};
  part.me = static_cast<size_t>(llvm::find(part.processes, engine_.rank()) - part.processes.begin());
  const int64_t pieces = part.Pieces();
  const auto work = [&]() -> Status {
    for (int64_t n = 0; n < std::min<int64_t>(pieces, 2); ++n) part.Receive(n);
    for (int64_t n = 0; n < pieces; ++n) {
      HLO_CHECK_OK(WaitFor(
          lock, coming.self, coming.inst, [&] { return engine_.Done(part.arriving[n % 2]); },
          /*moving=*/true));
      lock.unlock();
      std::vector<Values> brought = part.Take(n);
      Result<std::vector<Values>> made = combine(brought, coming.here.front());
      if (!made) group_.Fail(made.error());
      lock.lock();
      if (!made) return Error(std::move(made).error());
      const Values& piece = made->front();
      if (n == 0) {
        for (size_t v = 0; v < part.values(); ++v)
          part.results.push_back(
              Literal::Make(part.like[v].shape().WithElementType(piece[v].shape().element_type())));
        part.ReceiveResults();
      }
      part.SendResults(piece, n);
      if (n + 2 < pieces) part.Receive(n + 2);
    }
    return WaitFor(
        lock, coming.self, coming.inst, [&] { return engine_.Done(part.moving); }, /*moving=*/true);
  };
  if (Status done = work(); !done) {
    std::vector<Literal> kept = std::move(part.results);
    for (auto& buffers : part.buffers)
      for (Values& values : buffers) llvm::move(values, std::back_inserter(kept));
    Engine::Tickets tickets = std::move(part.moving);
    for (const auto& more : part.arriving) tickets.insert(tickets.end(), more.begin(), more.end());
    Drain(lock, std::move(tickets), std::move(kept));
    return Error(std::move(done).error());
  }
  return std::vector<Values>(coming.here.size(), part.results);
}

}  // namespace hlo::processes
