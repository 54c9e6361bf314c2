// Values between programs that different processes run.
#pragma once
#include <deque>
#include <set>

#include "backends/processes/engine.h"
#include "ir/eval/host_transfers.h"

namespace hlo::processes {

/// What a value is sent through: a channel of a client, between devices as the programs count them. Clients
/// have numbers that are the same in all processes.
struct ChannelKey {
  uint64_t client = 0;
  int64_t channel = 0, source = 0, target = 0;
  auto operator<=>(const ChannelKey&) const = default;
};
HLO_BINARY_MEMBERS(ChannelKey, v.client, v.channel, v.source, v.target)

/// Values wait where they were sent until somebody wants them. The first process is told of both, and brings
/// them together in the order in which it hears of them, as a queue in memory does; what is large goes from
/// process to process. All members are called with the engine's lock held.
class Channels {
 public:
  using Lock = Engine::Lock;
  explicit Channels(Engine& engine) : engine_(engine) {}

  void Send(const ChannelKey& key, Literal value);
  /// Waits for a value. Errors: those of `check`, which is asked again and again; and
  /// runtime-collective-timeout, where a process has died, or all others have ended without having sent one
  /// and this one, as `may_send` says when it is asked, does not either.
  Result<Literal> Receive(Lock& lock, const ChannelKey& key, HostTransfers::Check check,
                          llvm::function_ref<bool()> may_send);

  /// A message about channels; the reader stands behind its kind.
  void Handle(int from, MessageKind kind, BinaryReader& message);
  /// The first process: only `rank` has not come to its end yet; another one has, as `why` says.
  void OnlyLeft(int rank, const Diagnostic& why);
  /// From time to time.
  void Look();

 private:
  struct Offer {
    int from = 0;
    uint64_t number = 0;             // of the value there,
    std::optional<WireValue> small;  // or the value
  };
  /// Of the first process.
  struct Queue {
    std::deque<Offer> offers;
    std::deque<int> wanted_by;
  };
  struct Arrived {
    Literal value;
    Engine::Tickets tickets;
  };
  struct Box {
    size_t waiting = 0;
    std::deque<Arrived> arrived;
    std::optional<Diagnostic> in_vain;  // why nothing is to come any more
  };

  void MakeOffer(const ChannelKey& key, Literal value, bool again);
  void Match(const ChannelKey& key);
  void Arrive(const ChannelKey& key, Arrived arrived);
  void Give(int to, const ChannelKey& key, uint64_t number);
  /// Gives back what has come for somebody who waits no more.
  void ReturnSurplus();

  Engine& engine_;
  std::map<ChannelKey, Queue> queues_;
  std::map<ChannelKey, Box> boxes_;
  std::set<ChannelKey> surplus_;      // boxes with more than is waited for
  std::map<uint64_t, Literal> held_;  // values of this process that the first one knows of, by number
  uint64_t next_number_ = 0;
  size_t wanted_ = 0;  // in all queues
  std::optional<std::pair<int, WireDiagnostic>> only_left_;
};

}  // namespace hlo::processes
