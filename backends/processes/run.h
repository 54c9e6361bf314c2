// One run of a program on devices that are spread over processes.
#pragma once
#include <deque>

#include "backends/processes/engine.h"
#include "backends/processes/judge.h"
#include "ir/eval/device_network.h"

namespace hlo::processes {

/// The process that has a device: all have equally many, in order.
inline int OwnerOf(int64_t device, int64_t devices, int processes) {
  return static_cast<int>(device / (devices / processes));
}

/// Where the devices of this process meet those of the others, and how all processes come to one end. What
/// DeviceNetwork has, too, takes the engine's lock; the rest is called with it held.
class Run {
 public:
  using Values = DeviceGroup::Values;
  using Lock = Engine::Lock;

  /// Runs have numbers, which are the same in all processes.
  Run(Engine& engine, uint64_t number, DeviceGroup& group, llvm::ArrayRef<SourcePtr> sources,
      std::chrono::milliseconds timeout, StopToken& stop);
  ~Run();
  [[nodiscard]] uint64_t number() const { return number_; }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// As the functions of DeviceNetwork.
  Result<Values> Exchange(Device& self, const Instruction& inst, llvm::ArrayRef<int64_t> members,
                          Values contribution, DeviceGroup::Combine combine, const Flow& flow);
  void Send(int64_t channel, int64_t source, int64_t target, const Literal& value);
  Result<Literal> Receive(Device& self, const Instruction& inst, int64_t channel, int64_t source);
  void Finish(const Device& self);
  void Fail(const Diagnostic& why);
  Status End();

  /// A message of this run; the reader stands behind its number.
  void Handle(int from, MessageKind kind, BinaryReader& message);
  /// A message of a run that has ended: what comes with it comes to an end.
  static void Discard(Engine& engine, int from, MessageKind kind, BinaryReader& message);
  /// From time to time: says where the devices are, if they cannot go on.
  void Look();
  /// The run has failed for all, or this process can know no more of the others.
  void Stop(const Diagnostic& why);

 private:
  struct Meeting;
  struct Coming;
  struct Part;
  struct Received {
    Literal value;
    Engine::Tickets tickets;
  };
  struct Place {
    DevicePlace::State state = DevicePlace::Runs;
    const Instruction* at = nullptr;
  };

  [[nodiscard]] int Owner(int64_t device) const { return OwnerOf(device, group_.size(), engine_.size()); }
  [[nodiscard]] bool IsHere(int64_t device) const { return Owner(device) == engine_.rank(); }
  [[nodiscard]] std::vector<int> ProcessesOf(llvm::ArrayRef<int64_t> members) const;
  /// The ranks among `members` of the devices of a process.
  [[nodiscard]] std::vector<size_t> RanksIn(int process, llvm::ArrayRef<int64_t> members) const;
  template <class... T>
  void Tell(int to, MessageKind kind, T... parts) {
    engine_.Post(to, Pack(kind, number_, std::move(parts)...));
  }
  void Progress() { last_progress_ = Peers::Clock::now(); }

  Meeting& MeetingAt(const std::string& key, size_t members);
  /// Says to the other processes that a device has come, and begins to send what it brings.
  void Announce(Meeting& meeting, const WireArrival& arrival, llvm::ArrayRef<int64_t> members,
                const Flow& flow);
  /// What has come with a device of another process and nobody wants.
  static void Discard(Engine& engine, int from, const WireArrival& arrival);
  void HandleArrival(int from, BinaryReader& message);
  void HandleSent(int from, BinaryReader& message);
  /// That the member of that rank cannot meet one that has come before.
  [[nodiscard]] Status CheckFit(const Meeting& meeting, size_t rank) const;
  /// Waits at an instruction for what other devices do. `moving`: for memory on its way, which no deadlock
  /// is.
  Status WaitFor(Lock& lock, const Device& self, const Instruction& inst, llvm::function_ref<bool()> ready,
                 bool moving = false);
  /// What speaks against going on.
  Status Check();
  /// All have come: the results of the devices of this process.
  Status Complete(Lock& lock, const Coming& coming, DeviceGroup::Combine combine, const Flow& flow);
  /// That a member of another process sends what is needed of it here.
  [[nodiscard]] Status CheckSent(const Coming& coming, size_t rank, const Flow& flow) const;
  Result<std::vector<Values>> CombineWhole(Lock& lock, const Coming& coming, DeviceGroup::Combine combine,
                                           const Flow& flow);
  Result<std::vector<Values>> CombinePieces(Lock& lock, const Coming& coming, DeviceGroup::Combine combine);
  /// Memory on its way at the end of a run that has failed: what can arrive does.
  void Drain(Lock& lock, Engine::Tickets tickets, std::vector<Literal> kept);

  [[nodiscard]] WireReport MakeReport(uint64_t round) const;
  [[nodiscard]] bool IsStuck() const;
  /// The first process: what follows from what it has been told.
  void Consider();
  void Decide(const WireDiagnostic& verdict);

  Engine& engine_;
  uint64_t number_;
  DeviceGroup& group_;
  std::vector<SourcePtr> sources_;
  std::chrono::milliseconds timeout_;
  StopToken& stop_;
  std::map<std::string, std::unique_ptr<Meeting>> meetings_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::deque<Received>> channels_;
  std::map<int64_t, Place> places_;  // of the devices of this process
  uint64_t sent_ = 0, received_ = 0;
  Peers::Clock::time_point last_progress_;
  uint64_t asked_ = 0;                                     // the last round of reports
  std::optional<std::pair<uint64_t, uint64_t>> reported_;  // the counts in it
  std::optional<Peers::Clock::time_point> late_;  // when it last said that it has waited for too long
  std::optional<Diagnostic> failure_;
  bool ended_well_ = false, decided_ = false;
  Judge judge_;
};

}  // namespace hlo::processes
