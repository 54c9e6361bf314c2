// Programs on devices that are spread over several processes: what tools and clients see of it.
#pragma once
#include "backends/executable.h"
#include "backends/processes/channels.h"
#include "backends/processes/launch.h"
#include "backends/processes/run.h"

namespace hlo::processes {

/// The processes that do the same together. All of them call the same functions in the same order, but for
/// those that say otherwise. Process number 0 speaks for all.
class Processes final : public DeviceNetwork {
 public:
  /// Joins those that MPI has started, or that come to the coordinator. Null: this process is alone. Errors:
  /// those of FindLaunch(), unavailable-mpi, unavailable-processes, runtime-collective-timeout.
  static Result<std::unique_ptr<Processes>> Join(const LaunchOptions& options);
  /// Those that reach each other so.
  static Result<std::unique_ptr<Processes>> Join(std::unique_ptr<Transport> transport);
  ~Processes() override;

  [[nodiscard]] int rank() const { return engine_.rank(); }
  [[nodiscard]] int size() const { return engine_.size(); }
  [[nodiscard]] bool Leads() const { return rank() == 0; }

  /// The texts of all processes, by number.
  Result<std::vector<std::string>> Share(const std::string& mine);
  /// The text of the first one.
  Result<std::string> FromFirst(const std::string& mine);
  /// Comes to one answer before runs of a program: `mine` if it is an error, an error if another process has
  /// one or its program is another one. `program` may be null where `mine` is an error.
  Status AgreeToRun(Status mine, const Module* program);
  /// Gives the first process what the devices of all have given. Others keep what they have.
  Status Collect(ExecutionResult& result);
  /// As the functions of Channels; not in the same order everywhere.
  void SendThrough(const ChannelKey& key, Literal value);
  Result<Literal> ReceiveThrough(const ChannelKey& key, HostTransfers::Check check,
                                 llvm::function_ref<bool()> may_send);

  /// The end: the greatest of all exit codes, for every process. `text` is what the process has to say; what
  /// the first one has not said itself already it writes to `err`, equal texts once, behind `process N: `. A
  /// process may come to it early: runs of the others fail then. Nothing else is called afterwards.
  int Conclude(int exit_code, const std::string& text, llvm::raw_ostream& err);

  // DeviceNetwork
  uint64_t NextPlace() override;
  void Enter(uint64_t place, const Module& module) override;
  void Leave(uint64_t place, const Status& why) override;
  Status Begin(DeviceGroup& group, std::chrono::milliseconds timeout, StopToken& stop) override;
  [[nodiscard]] bool IsHere(int64_t device, int64_t devices) const override;
  Status End(DeviceGroup& group) override;
  Result<Values> Exchange(Device& self, const Instruction& inst, llvm::ArrayRef<int64_t> members,
                          Values contribution, DeviceGroup::Combine combine, const Flow& flow) override;
  void Send(DeviceGroup& group, int64_t channel, int64_t source, int64_t target, Literal value) override;
  Result<Literal> Receive(Device& self, const Instruction& inst, int64_t channel, int64_t source) override;
  void Finish(Device& self) override;
  void Fail(DeviceGroup& group, const Diagnostic& why) override;

 private:
  struct Last {
    int64_t exit_code = 0;
    std::string text;
  };
  explicit Processes(std::unique_ptr<Transport> transport);
  void Handle(int from, MessageKind kind, BinaryReader& message);
  void HandleLeft(int from, BinaryReader& message);
  /// Tells the others whose signs of life are needed here.
  Status ShareBeats(std::vector<int> unwatched);
  /// What speaks against waiting for another process.
  Status Check();
  /// A process has come to its end.
  [[nodiscard]] std::optional<Diagnostic> Early() const;
  /// What follows for channels from those that have.
  void TellChannels();

  /// The next place may enter, if the program that has this one has not begun before.
  void PassPlace();
  Run& RunOf(const DeviceGroup& group);
  /// No run can go on, now that a process has come to its end.
  void StopRuns();
  /// This process has no run of the number that others have, or will.
  void GiveUpRun(const Diagnostic& why);
  /// What has come of the run of this number before there was one.
  void TakeEarly();

  std::mutex places_;
  std::condition_variable passed_;
  uint64_t next_place_ = 0, place_ = 0;  // to be taken; that may enter or has
  bool entered_ = false;                 // it has, and not begun
  std::vector<SourcePtr> sources_;       // of the program that has
  /// Under way.
  std::map<const DeviceGroup*, std::unique_ptr<Run>> runs_;
  uint64_t run_number_ = 0;  // the last that has begun
  /// Messages of runs that others have begun before this process.
  std::vector<std::pair<int, std::string>> early_;
  uint64_t share_number_ = 0;
  std::map<uint64_t, std::map<int, std::string>> parts_;  // the first process
  std::map<uint64_t, std::vector<std::string>> shared_;
  struct Arriving {
    WireResult wire;
    Literal value;
    std::vector<Literal> outfeed;
    Engine::Tickets tickets;
  };
  std::vector<Arriving> results_;
  std::map<int, Last> last_;
  std::optional<int64_t> exit_code_;
  bool concluding_ = false;
  Channels channels_{engine_};
  Engine engine_;  // last: its thread uses the members above
};

}  // namespace hlo::processes
