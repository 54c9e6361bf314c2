// A program that runs for its client.
#pragma once
#include "backends/client/device_buffer.h"
#include "backends/executable.h"
#include "ir/support/work.h"

namespace hlo {

class ClientState;

/// An argument of a run; `donate`: its memory is the run's, for results.
struct BufferArgument {
  DeviceBuffer buffer;
  bool donate = false;
};

/// A run that may still be under way. It goes on when this is dropped.
struct Execution {
  using Outfeeds = std::vector<std::vector<Literal>>;
  std::vector<std::vector<DeviceBuffer>> results;  // by device; of a tuple its elements
  std::shared_ptr<Pending<Outfeeds>> outfeeds;     // by device; set at the end
  std::shared_ptr<StopToken> stop;                 // requests to it stop this run; null: it is over
  /// Waits for the end. Errors: those of the run, and of what makes its arguments.
  [[nodiscard]] Status Wait() const { return outfeeds->Wait(); }
};

/// A value of `shape` may be given for a parameter: the same type and sizes, whatever the layouts; bounds
/// take arrays of their size.
bool IsArgumentFor(const Shape& shape, const Shape& parameter);
/// Such a value with the parameter's shape: another layout is another name.
Literal AsArgument(Literal value, const Shape& parameter);
/// The same. An array on a device stays there if nothing but layouts is different. Errors: those of the
/// device.
Result<DeviceValue> AsArgument(DeviceValue value, const Shape& parameter);

/// Threads may share it; it may outlive its client.
class ClientProgram final : public Executable {
 public:
  ClientProgram(std::shared_ptr<ClientState> client, std::unique_ptr<Executable> program);
  /// The module that it was compiled from, for its runs, which may go on when it is gone.
  void Keep(std::shared_ptr<const Module> module) { kept_ = std::move(module); }
  Result<ExecutionResult> Run(std::vector<std::vector<Literal>> arguments,
                              const ExecutionOptions& options) const override;
  Result<DeviceResult> RunOnValues(std::vector<std::vector<DeviceValue>> arguments,
                                   const ExecutionOptions& options) const override;
  /// Begins a run on arguments[device][parameter]; as many are under way at a time as ClientOptions::threads
  /// says, or 32, and they begin in the order in which they are asked for; what `options` point to lives
  /// until its end. Errors: input-shape, where an argument is not what the parameter is, whatever the
  /// layouts, which say nothing of where elements lie in a buffer; runtime-buffer, if it was donated before.
  Result<Execution> Begin(std::vector<std::vector<BufferArgument>> arguments,
                          const ExecutionOptions& options) const;
  /// The same, on this thread, and waits for the end: for those who would wait anyway. Errors: those of the
  /// run, too.
  Result<Execution> Execute(std::vector<std::vector<BufferArgument>> arguments,
                            const ExecutionOptions& options) const;
  Result<std::optional<int64_t>> DeviceTime(const std::vector<std::vector<Literal>>& arguments,
                                            const ExecutionOptions& options) const override;
  void Expect(int64_t argument_bytes) override;
  [[nodiscard]] const Module& module() const override { return program_->module(); }
  [[nodiscard]] std::optional<MemoryPlan> Memory() const override { return program_->Memory(); }

 private:
  struct Task;
  /// What Begin() and Execute() ask for, with the buffers for its results in `execution`.
  Result<std::shared_ptr<Task>> NewTask(std::vector<std::vector<BufferArgument>> arguments,
                                        const ExecutionOptions& options, Execution& execution) const;
  /// The same; where it fails, others that have devices of the run hear of it.
  Result<std::shared_ptr<Task>> NewTaskFor(std::vector<std::vector<BufferArgument>> arguments,
                                           const ExecutionOptions& options, Execution& execution) const;

  std::shared_ptr<ClientState> client_;
  std::shared_ptr<Executable> program_;  // with the runs that are under way
  std::shared_ptr<const Module> kept_;   // the same
  int64_t bytes_ = 0;                    // that a device takes, where they may be too many
};

}  // namespace hlo
