// How processes that nothing but an address connects find each other.
#include <random>

#include "backends/processes/tcp_transport.h"
#include "ir/support/binary.h"
#include "ir/support/build_id.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo::processes {
namespace {

using Clock = std::chrono::steady_clock;

/// Who connects and says nothing, or too little, is sent away after that.
constexpr std::chrono::seconds kManners{5};
constexpr size_t kMostStrangers = 256;

/// What a process says when it comes: to the first one, and to another one, with the number that the first
/// one has given it.
struct Hello {
  std::string program, token;
  uint64_t rank = 0, size = 0;
  std::string port;  // where it listens
};
HLO_BINARY_MEMBERS(Hello, v.program, v.token, v.rank, v.size, v.port)

/// What the first process answers: where the others listen, or why there is no run.
struct Welcome {
  std::string refusal, token;
  std::vector<std::pair<std::string, std::string>> places;  // host and port, by process
};
HLO_BINARY_MEMBERS(Welcome, v.refusal, v.token, v.places)

template <class T>
bool Say(const Socket& to, T words) {
  BinaryWriter writer;
  Archive(writer, words);
  return SendGreeting(to, std::move(writer).Take());
}

template <class T>
std::optional<T> Understand(const Greeting& greeting) {
  BinaryReader reader(greeting.text());
  T words;
  Archive(reader, words);
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  return words;
}

std::string NewToken() {
  std::random_device source;
  std::string token;
  for (int i = 0; i < 4; ++i) token += llvm::utohexstr(source(), /*LowerCase=*/true, /*Width=*/8);
  return token;
}

std::string Seconds(std::chrono::milliseconds time) {
  return llvm::formatv("{0:f1} s", static_cast<double>(time.count()) / 1000).str();
}

/// A process that is coming, or a stranger.
struct Coming {
  Socket socket;
  Greeting greeting;
  Deadline end;
};

/// Those that come to one that listens; strangers are sent away.
class Door {
 public:
  explicit Door(Socket listener) : listener_(std::move(listener)) {}

  /// Waits for a moment; calls `come` with those that have said who they are, and looks at `others` too.
  Status Look(llvm::ArrayRef<const Socket*> others, llvm::function_ref<void(Socket, const Hello&)> come) {
    std::vector<const Socket*> all(others.begin(), others.end());
    all.push_back(&listener_);
    for (const Coming& coming : coming_) all.push_back(&coming.socket);
    HLO_CHECK_OK(AwaitAny(all));
    for (Socket socket = Accept(listener_); socket.valid(); socket = Accept(listener_))
      if (coming_.size() < kMostStrangers)
        coming_.push_back({std::move(socket), {}, Clock::now() + kManners});
    std::erase_if(coming_, [&](Coming& coming) {
      const Greeting::State state = coming.greeting.Read(coming.socket);
      if (state == Greeting::More) return Clock::now() > coming.end;
      if (state == Greeting::Whole)
        if (const auto hello = Understand<Hello>(coming.greeting)) come(std::move(coming.socket), *hello);
      return true;
    });
    return {};
  }

 private:
  Socket listener_;
  std::vector<Coming> coming_;
};

/// The first process: who has come so far.
class First {
 public:
  First(const Rendezvous& where, Socket listener)
      : where_(where), door_(std::move(listener)), connections_(static_cast<size_t>(where.size)) {
    welcome_.token = NewToken();
    welcome_.places.resize(static_cast<size_t>(where.size));
  }

  Result<std::vector<Socket>> Gather() {
    const auto end = Clock::now() + where_.timeout;
    while (!error_ && missing_ > 0) {
      std::vector<const Socket*> here;
      for (const Socket& socket : connections_)
        if (socket.valid()) here.push_back(&socket);
      HLO_CHECK_OK(
          door_.Look(here, [&](Socket socket, const Hello& hello) { Take(std::move(socket), hello); }));
      for (size_t r = 1; r < connections_.size() && !error_; ++r)
        if (connections_[r].valid() && HasClosed(connections_[r]))
          error_ = MakeError("runtime-collective-timeout", {},
                             "process {0} of {1} has gone before all had come", r, where_.size);
      if (!error_ && Clock::now() > end && missing_ > 0) error_ = Late();
    }
    if (error_) welcome_.refusal = error_->message;
    for (const Socket& socket : connections_)
      if (socket.valid()) (void)Say(socket, welcome_);
    if (error_) return Error(std::move(*error_));
    return std::move(connections_);
  }

 private:
  void Take(Socket socket, const Hello& hello) {
    if (error_) return;
    if (hello.program != BuildId())
      error_ =
          MakeError("unavailable-processes", {}, "process {0} runs another build of the program", hello.rank);
    else if (hello.size != static_cast<uint64_t>(where_.size))
      error_ =
          MakeError("usage-devices", {}, "process {0} is to be one of {1} processes, process 0 one of {2}",
                    hello.rank, hello.size, where_.size);
    else if (hello.rank == 0 || hello.rank >= hello.size || connections_[hello.rank].valid())
      error_ = MakeError("usage-devices", {}, "there are two processes of number {0}", hello.rank);
    if (error_) {
      welcome_.refusal = error_->message;
      (void)Say(socket, welcome_);
      return;
    }
    welcome_.places[hello.rank] = {EndOf(socket, /*of_this=*/false).host, hello.port};
    connections_[hello.rank] = std::move(socket);
    --missing_;
  }

  [[nodiscard]] Diagnostic Late() const {
    std::string names;
    for (size_t r = 1; r < connections_.size(); ++r)
      if (!connections_[r].valid()) names += (names.empty() ? "" : ", ") + std::to_string(r);
    return MakeError("runtime-collective-timeout", {},
                     "of {0} processes, these have not come to {1} within {2}: {3}", where_.size,
                     where_.coordinator, Seconds(where_.timeout), names);
  }

  const Rendezvous& where_;
  Door door_;
  std::vector<Socket> connections_;
  Welcome welcome_;
  int missing_ = where_.size - 1;
  std::optional<Diagnostic> error_;
};

/// What the first process answers.
Result<Welcome> AwaitWelcome(const Rendezvous& where, const Socket& first, Deadline end) {
  Greeting greeting;
  for (;;) {
    const Greeting::State state = greeting.Read(first);
    if (state == Greeting::Whole) break;
    if (state == Greeting::Broken)
      return Error("runtime-collective-timeout", {}, "process 0 of {0} at {1} has gone before all had come",
                   where.size, where.coordinator);
    if (Clock::now() > end)
      return Error("runtime-collective-timeout", {}, "process 0 of {0} at {1} does not answer", where.size,
                   where.coordinator);
    HLO_CHECK_OK(AwaitAny(&first));
  }
  auto welcome = Understand<Welcome>(greeting);
  if (!welcome)
    return Error("unavailable-processes", {}, "who listens at {0} is no process of this program",
                 where.coordinator);
  if (!welcome->refusal.empty())
    return Error("runtime-collective-timeout", {}, "process 0 at {0} says: {1}", where.coordinator,
                 welcome->refusal);
  if (welcome->places.size() != static_cast<size_t>(where.size))
    return Error("unavailable-processes", {}, "who listens at {0} is no process of this program",
                 where.coordinator);
  return std::move(*welcome);
}

Result<std::vector<Socket>> ComeToFirst(const Rendezvous& where, const Endpoint& coordinator) {
  const auto end = Clock::now() + where.timeout;
  HLO_TRY(Socket first, Connect(coordinator, end));
  if (!first.valid())
    return Error("runtime-collective-timeout", {}, "process 0 of {0} has not come to {1} within {2}",
                 where.size, where.coordinator, Seconds(where.timeout));
  // On the network that the coordinator is on.
  HLO_TRY(Socket listener, Listen({EndOf(first, /*of_this=*/true).host, "0"}));
  Hello hello{std::string(BuildId()), "", static_cast<uint64_t>(where.rank),
              static_cast<uint64_t>(where.size), EndOf(listener, /*of_this=*/true).port};
  if (!Say(first, hello))
    return Error("runtime-collective-timeout", {}, "process 0 at {0} has gone", where.coordinator);
  // It may have begun to wait as late as this process has come.
  HLO_TRY(const Welcome welcome, AwaitWelcome(where, first, Clock::now() + where.timeout + kManners));
  std::vector<Socket> connections(static_cast<size_t>(where.size));
  connections[0] = std::move(first);
  hello.token = welcome.token;
  const auto me = static_cast<size_t>(where.rank);
  const auto all = Clock::now() + where.timeout;
  for (size_t r = 1; r < me; ++r) {
    HLO_TRY(connections[r], Connect({welcome.places[r].first, welcome.places[r].second}, all));
    if (!connections[r].valid() || !Say(connections[r], hello))
      return Error("runtime-collective-timeout", {}, "process {0} of {1} cannot be reached", r, where.size);
  }
  Door door(std::move(listener));
  const auto missing = [&] {
    return llvm::find_if(llvm::seq(me + 1, connections.size()),
                         [&](size_t r) { return !connections[r].valid(); });
  };
  for (size_t left = connections.size() - me - 1; left > 0;) {
    HLO_CHECK_OK(door.Look({}, [&](Socket socket, const Hello& other) {
      if (other.token != welcome.token || other.rank <= me || other.rank >= connections.size() ||
          connections[other.rank].valid())
        return;
      connections[other.rank] = std::move(socket);
      --left;
    }));
    if (left > 0 && Clock::now() > all)
      return Error("runtime-collective-timeout", {}, "process {0} of {1} has not come to process {2}",
                   *missing(), where.size, me);
  }
  return connections;
}

}  // namespace

Result<std::unique_ptr<Transport>> JoinTcp(const Rendezvous& where) {
  HLO_TRY(const Endpoint coordinator, Endpoint::Parse(where.coordinator));
  std::vector<Socket> connections;
  if (where.rank == 0) {
    HLO_TRY(Socket listener, Listen(coordinator));
    HLO_TRY(connections, First(where, std::move(listener)).Gather());
  } else {
    HLO_TRY(connections, ComeToFirst(where, coordinator));
  }
  return MakeTcpTransport(where.rank, std::move(connections));
}

}  // namespace hlo::processes
