// What was compiled, what it runs on, and what comes of that.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlo/literal.h"

namespace hlo_toolkit {

class Client;

namespace internal {
struct BufferState;
class ClientState;
struct ExecutableState;
struct ExecutionState;
}  // namespace internal

/// A value on a device of a client; copies are the same buffer. It may be used before it has been made: what
/// uses it waits. Tuples have a buffer for each of their elements.
class Buffer {
 public:
  /// No buffer: an error for those who use it.
  Buffer() = default;
  [[nodiscard]] bool valid() const { return state_ != nullptr; }
  /// With its layout; no shape if it is not valid.
  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] int device() const;
  /// Waiting for it would cost no time.
  [[nodiscard]] bool IsReady() const;
  /// Waits until it is there. Errors: those of the run that was to make it; FAILED_PRECONDITION, if it was
  /// donated or deleted.
  [[nodiscard]] Status Await() const;
  /// Waits so long at most: whether waiting would now cost no time.
  [[nodiscard]] bool WaitFor(std::chrono::nanoseconds limit) const;
  /// Waits, and brings the value to the host. Errors: those of Await().
  [[nodiscard]] StatusOr<Literal> ToLiteral() const;
  /// Gives its memory back when the runs that have been asked for are done with it; nobody may use it any
  /// more.
  void Delete();

 private:
  friend struct internal::BufferState;
  std::shared_ptr<internal::BufferState> state_;
};
/// The documents' name.
using GlobalData = Buffer;

/// A request to stop runs of a client, from any thread. Outlives them.
class StopSource {
 public:
  explicit StopSource(const Client& client);
  StopSource(const StopSource&) = delete;
  StopSource& operator=(const StopSource&) = delete;
  ~StopSource();
  void Request();

 private:
  friend struct internal::ExecutableState;
  struct Token;
  std::unique_ptr<Token> token_;  // with what it needs of the client
};

/// How one run differs from another of the same program.
struct ExecuteOptions {
  /// Parameters whose buffers are the run's from now on, for its results: nobody may use them any more.
  std::vector<int64_t> donated = {};
  std::optional<uint64_t> seed = {};  // in place of the client's
  const StopSource* stop = nullptr;   // stops this run beside those that stop the client
};

/// A run that may still be under way. It goes on when this is dropped.
class Execution {
 public:
  /// Of a device of the program, as replica * partition_count + partition counts them: of a tuple its
  /// elements, else one. Nothing of a device that there is not.
  [[nodiscard]] std::vector<Buffer> results(int64_t device = 0) const;
  /// The same as one buffer, a tuple's, too.
  [[nodiscard]] Buffer result(int64_t device = 0) const;
  /// Of the program; those of other processes, too.
  [[nodiscard]] int64_t device_count() const;
  [[nodiscard]] bool IsReady() const;
  /// Waits for the end. Errors: those of the run, and of what makes its arguments.
  [[nodiscard]] Status Await() const;
  /// Waits so long at most: whether it is over.
  [[nodiscard]] bool WaitFor(std::chrono::nanoseconds limit) const;
  /// Asks it to stop: it gives CANCELLED, unless it is over before.
  void Cancel() const;

 private:
  friend struct internal::ExecutionState;
  std::shared_ptr<internal::ExecutionState> state_;
};

/// What a run takes of memory, in bytes, per device.
struct MemoryReport {
  int64_t arguments = 0, results = 0, temporaries = 0, constants = 0;
  int64_t aliased = 0;  // of results, in the memory of arguments
  [[nodiscard]] int64_t peak() const { return arguments + results - aliased + temporaries + constants; }
  /// A line for each; an object with their names as keys.
  [[nodiscard]] std::string ToText() const;
  [[nodiscard]] std::string ToJson() const;
};

/// Where time went, by instruction of what was compiled.
struct ProfileReport {
  struct Row {
    std::string name, opcode;
    std::string text;     // the instruction as HLO
    std::string library;  // that did it; empty: none
    int64_t calls = 0;
    std::chrono::nanoseconds time{0};  // of all calls, without instructions that have rows of their own
  };
  std::vector<Row> rows;  // longest first
  std::chrono::nanoseconds total{0};
  int64_t runs = 0;
  /// A line for each row; an object `{"runs", "total_ns", "rows": [{"name", "opcode", "text", "library",
  /// "calls", "time_ns"}]}`.
  [[nodiscard]] std::string ToText() const;
  [[nodiscard]] std::string ToJson() const;
};

/// A program, ready to run. A value: copies share it, and threads may share them.
class Executable {
 public:
  /// None; an error for those who run it.
  Executable() = default;
  [[nodiscard]] bool IsNull() const { return state_ == nullptr; }
  /// Empty if it is null, as all that follow.
  [[nodiscard]] const std::string& name() const;
  /// With layouts.
  [[nodiscard]] const ProgramShape& program_shape() const;
  /// Replicas times partitions.
  [[nodiscard]] int64_t device_count() const;

  /// Runs on one device and waits. Errors: INVALID_ARGUMENT for arguments that are not what parameters are,
  /// ABORTED for what goes wrong on the way, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, CANCELLED.
  StatusOr<Literal> Run(Span<const Literal> arguments, const ExecuteOptions& options = {}) const;
  /// The same on all devices: arguments and results by device. Those of devices of other processes are there
  /// without arguments, which are not looked at, and with results that hold no value.
  StatusOr<std::vector<Literal>> RunOnDevices(Span<const std::vector<Literal>> arguments,
                                              const ExecuteOptions& options = {}) const;

  /// Runs on buffers of one device and waits; of a tuple its elements.
  StatusOr<std::vector<Buffer>> Execute(Span<const Buffer> arguments,
                                        const ExecuteOptions& options = {}) const;
  /// Returns at once. Many may be under way; they begin in the order in which they are asked for.
  StatusOr<Execution> ExecuteAsync(Span<const Buffer> arguments, const ExecuteOptions& options = {}) const;
  /// The same on all devices: arguments by device; of those of other processes none. Buffers of their results
  /// give FAILED_PRECONDITION.
  StatusOr<Execution> ExecuteAsyncOnDevices(Span<const std::vector<Buffer>> arguments,
                                            const ExecuteOptions& options = {}) const;

  /// Nothing where the platform does not plan it.
  [[nodiscard]] std::optional<MemoryReport> memory() const;
  /// Runs some times on one device and says where the time went.
  StatusOr<ProfileReport> Profile(Span<const Literal> arguments, int runs = 1) const;
  /// The module that is run, as HLO text; large constants are left out.
  [[nodiscard]] std::string OptimizedText() const;
  /// For Client::LoadSerialized(): the computation, how it is compiled, and its code.
  [[nodiscard]] StatusOr<std::string> Serialize() const;

 private:
  friend struct internal::ExecutableState;
  std::shared_ptr<const internal::ExecutableState> state_;
};

}  // namespace hlo_toolkit
