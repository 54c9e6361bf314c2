// Programs on devices that are spread over several processes: what tools and clients see of it.
#pragma once
#include "backends/executable.h"
#include "backends/processes/run.h"

namespace hlo::processes {

/// The processes that do the same together. All of them call the same functions in the same order, but for
/// those that say otherwise. Process number 0 speaks for all.
class Processes final : public DeviceNetwork {
 public:
  /// Joins those that MPI has started, or is alone. Errors: unavailable-mpi, runtime-collective-timeout.
  static Result<std::unique_ptr<Processes>> JoinMpi();
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
  /// Gives the first process what the devices of all have given. Others keep what they have.
  Status Collect(ExecutionResult& result);
  /// The end: the greatest of all exit codes, for every process. `text` is what the process has to say; what
  /// the first one has not said itself already it writes to `err`, equal texts once, behind `process N: `. A
  /// process may come to it early: runs of the others fail then. Nothing else is called afterwards.
  int Conclude(int exit_code, const std::string& text, llvm::raw_ostream& err);

  // DeviceNetwork
  void Enter(const Module& module) override;
  void Leave() override;
  Status Begin(DeviceGroup& group, std::chrono::milliseconds timeout, StopToken& stop) override;
  [[nodiscard]] bool IsHere(int64_t device, int64_t devices) const override;
  Status End() override;
  Result<Values> Exchange(Device& self, const Instruction& inst, llvm::ArrayRef<int64_t> members,
                          Values contribution, DeviceGroup::Combine combine,
                          DeviceGroup::Pieces pieces) override;
  void Send(int64_t channel, int64_t source, int64_t target, Literal value) override;
  Result<Literal> Receive(Device& self, const Instruction& inst, int64_t channel, int64_t source) override;
  void Finish(Device& self) override;
  void Fail(const Diagnostic& why) override;

 private:
  struct Last {
    int64_t exit_code = 0;
    std::string text;
  };
  explicit Processes(std::unique_ptr<Transport> transport);
  void Handle(int from, MessageKind kind, BinaryReader& message);
  void HandleLeft(int from, BinaryReader& message);
  /// What speaks against waiting for another process.
  Status Check();
  /// A process has come to its end.
  [[nodiscard]] std::optional<Diagnostic> Early() const;

  std::mutex program_;  // of the one that runs
  std::vector<SourcePtr> sources_;
  std::unique_ptr<Run> run_;
  uint64_t run_number_ = 0;
  /// Messages of a run that others have begun before this process.
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
  Engine engine_;  // last: its thread uses the members above
};

}  // namespace hlo::processes
