// Who compiles modules for a platform and runs them. Tools and libraries do both through a client only.
#pragma once
#include "backends/client/client_program.h"
#include "backends/client/platform.h"
#include "ir/support/work.h"

namespace hlo {

/// What belongs to a client and not to the process.
struct ClientOptions {
  /// That compiling and runs have, those of a caller included; 0: the threads of the process, with all others
  /// who have none of their own.
  int threads = 0;
  bool cache = true;         // compiled programs are kept on disk and taken from there,
  std::string cache_folder;  // in this folder; empty: in that of the user
  /// Bytes that the runs at one time may take together, as their programs have planned them: a run waits for
  /// others, and is refused if it takes more alone; 0: no limit but for each run the memory of the machine.
  /// What plans nothing, as the interpreter, is not counted.
  int64_t memory_limit = 0;
  /// Of each compilation and of each run; 0: no limit.
  std::chrono::milliseconds time_limit{0};
  uint64_t seed = ExecutionOptions().rng_seed;
  /// Requests to it stop what this client does, too; outlives the client and its programs. Null: there is
  /// none.
  const StopToken* stop = CurrentWork().stop;
};

/// How many pieces of work, such as compilations and runs, have begun, and how many have ended.
struct ClientActivity {
  std::atomic<uint64_t> begun = 0, ended = 0;
};

/// Programs for one platform. Threads may share it. Several may live side by side, with settings of their
/// own. The last of it and its programs that goes waits for the runs that are under way.
class Client {
 public:
  explicit Client(Platform platform, ClientOptions options = {});

  [[nodiscard]] Platform platform() const;
  [[nodiscard]] llvm::StringRef platform_name() const { return Info(platform()).name; }
  /// Requests to it stop all that the client does, until they are forgotten. What shall be stopped alone has
  /// a token below this one (ExecutionOptions::stop).
  [[nodiscard]] StopToken& stop() const;
  /// One replica, one partition, and what the client's options say.
  [[nodiscard]] ExecutionOptions NewExecution() const;

  /// Makes `module` ready to run as `execution` is going to say: compiled from a copy, but for the
  /// interpreter, which runs the module itself, so that it has to stay as it is as long as the program lives.
  /// The program may outlive the client. Errors: unsupported-… (exit 5) naming the instruction, before any
  /// work; those of passes; compile-kernels; interrupted and limit-timeout; those of runs, limit-memory as
  /// well.
  Result<std::unique_ptr<ClientProgram>> Compile(const Module& module, const CompileOptions& options = {},
                                                 const ExecutionOptions& execution = {}) const;
  /// Compile() and one run.
  Result<ExecutionResult> Run(const Module& module, std::vector<std::vector<Literal>> arguments,
                              const ExecutionOptions& execution = {}) const;

  /// Changes as the client works; may outlive it.
  [[nodiscard]] std::shared_ptr<const ClientActivity> activity() const;

  /// Does the work on this thread as the client's: within its time limit, until somebody stops it.
  void Do(llvm::function_ref<void()> work) const;

  /// A buffer with this value, for programs of this client. On the cpu and the interpreter it is the
  /// literal's memory, which nobody else should write; on GPUs it goes there when a run needs it.
  static DeviceBuffer Transfer(DeviceValue value);

 private:
  std::shared_ptr<ClientState> state_;  // shared with the programs
};

}  // namespace hlo
