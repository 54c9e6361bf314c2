// What clients, buffers and executables are behind the public headers.
#pragma once
#include <list>

#include "backends/client/client.h"
#include "backends/processes/processes.h"
#include "hlo/client.h"
#include "tools/library/convert.h"
#include "tools/library/mailboxes.h"

namespace hlo_toolkit::internal {

class ClientState {
 public:
  /// `processes`: that the devices are spread over; null: this one has them all. `number`: see
  /// NextClientNumber().
  ClientState(hlo::Platform platform, hlo::ClientOptions inner, ClientOptions options,
              hlo::processes::Processes* processes, uint64_t number)
      : client_(platform, std::move(inner)),
        options_(std::move(options)),
        processes_(processes),
        boxes_(std::make_shared<Mailboxes>(client_, processes, number)) {}

  [[nodiscard]] const hlo::Client& client() const { return client_; }
  [[nodiscard]] const ClientOptions& options() const { return options_; }
  [[nodiscard]] const std::shared_ptr<Mailboxes>& boxes() const { return boxes_; }
  [[nodiscard]] hlo::processes::Processes* processes() const { return processes_; }
  [[nodiscard]] int process_index() const { return processes_ ? processes_->rank() : 0; }
  [[nodiscard]] int process_count() const { return processes_ ? processes_->size() : 1; }
  /// The process that has a device.
  [[nodiscard]] int ProcessOf(int device) const {
    return hlo::processes::OwnerOf(device, options_.device_count, process_count());
  }
  /// Devices that a process has.
  [[nodiscard]] int per_process() const { return options_.device_count / process_count(); }
  [[nodiscard]] hlo::Status CheckDevice(int64_t device) const;
  /// The same, and that it is one of this process.
  [[nodiscard]] hlo::Status CheckDeviceHere(int64_t device) const;

  /// What was compiled of a computation that the documents' functions run; null if nothing was.
  std::shared_ptr<const ExecutableState> FindCompiled(uint64_t computation);
  void KeepCompiled(uint64_t computation, std::shared_ptr<const ExecutableState> executable);
  /// These keep the client in turn: when it goes, they have to.
  void ForgetCompiled();

 private:
  hlo::Client client_;
  ClientOptions options_;
  hlo::processes::Processes* processes_;
  std::shared_ptr<Mailboxes> boxes_;
  std::mutex mutex_;
  // By the number of the entry, last used first.
  std::list<std::pair<uint64_t, std::shared_ptr<const ExecutableState>>> compiled_;
};

struct BufferState {
  std::shared_ptr<ClientState> client;
  std::shared_ptr<const Shape> shape;
  int device = 0;
  std::vector<hlo::DeviceBuffer> parts;  // of a tuple its elements, else one

  /// As the backends have it.
  [[nodiscard]] hlo::Shape InnerShape() const;
  static Buffer Make(BufferState state);
  /// With a value of its own; of a tuple its elements are taken apart.
  static Buffer Of(std::shared_ptr<ClientState> client, std::shared_ptr<const Shape> shape, int device,
                   const hlo::DeviceBuffer& value);
  static const BufferState* Get(const Buffer& buffer) { return buffer.state_.get(); }
};

/// Where a value in the library's own form has its shape in the public one, made once.
struct ResultShapes {
  std::shared_ptr<const Shape> whole;
  std::vector<std::shared_ptr<const Shape>> parts;  // of a tuple its elements, else `whole`
  explicit ResultShapes(const hlo::Shape& shape);
};

struct ExecutableState {
  std::shared_ptr<ClientState> client;
  std::shared_ptr<const hlo::Module> module;  // that was compiled: with the layouts asked for
  std::unique_ptr<hlo::ClientProgram> program;
  CompileOptions how;               // it was compiled
  std::vector<int> devices;         // of the client
  hlo::ExecutionOptions execution;  // of a run that nothing else is said of
  std::string name;
  ProgramShape shape;
  std::vector<hlo::Shape> parameters;
  std::shared_ptr<const ResultShapes> results;

  /// Errors: those of Client::Compile. `code`: hlo::compile::ProgramStore::own, or null.
  static hlo::Result<std::shared_ptr<const ExecutableState>> Make(std::shared_ptr<ClientState> client,
                                                                  std::shared_ptr<const hlo::Module> module,
                                                                  const CompileOptions& options,
                                                                  std::string* code = nullptr);
  static Executable Wrap(std::shared_ptr<const ExecutableState> state);
  static const ExecutableState* Get(const Executable& executable) { return executable.state_.get(); }

  /// Whether device `device` of the program is in this process.
  [[nodiscard]] bool IsHere(size_t device) const {
    return client->processes() == nullptr || client->ProcessOf(devices[device]) == client->process_index();
  }
  /// `options` in the form of the backends.
  [[nodiscard]] hlo::ExecutionOptions ExecutionFor(const ExecuteOptions& options) const;
  /// Begins a run, or runs it. Arguments by device.
  hlo::Result<Execution> Run(Span<const std::vector<Buffer>> arguments, const ExecuteOptions& options,
                             bool wait) const;
  /// A run on one device, of arguments that are there and stay with the caller: without what programs need
  /// that take longer than that costs. Nothing where they are not so, or wrong.
  hlo::Result<std::optional<std::vector<Buffer>>> RunAtOnce(Span<const Buffer> arguments) const;

  /// An error that keeps this process from a run, which then fails in the others, too.
  [[nodiscard]] hlo::Diagnostic Refuse(hlo::Diagnostic why) const;

 private:
  /// By device, of those of this process.
  hlo::Result<std::vector<std::vector<hlo::BufferArgument>>> AllArgumentsOf(
      Span<const std::vector<Buffer>> arguments, const ExecuteOptions& options) const;
  hlo::Result<std::vector<hlo::BufferArgument>> ArgumentsOf(size_t device, Span<const Buffer> buffers,
                                                            const ExecuteOptions& options) const;
};

struct ExecutionState {
  hlo::Execution run;
  std::shared_ptr<ClientState> client;
  std::shared_ptr<const ResultShapes> shapes;
  std::vector<int> devices;
  static Execution Make(hlo::Execution run, const ExecutableState& executable);
};

/// Executable::Serialize() and back.
StatusOr<std::string> ToBytes(const ExecutableState& executable);
hlo::Result<std::shared_ptr<const ExecutableState>> FromBytes(std::shared_ptr<ClientState> client,
                                                              std::string_view bytes);

}  // namespace hlo_toolkit::internal
