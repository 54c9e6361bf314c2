#include "backends/client/client_program.h"

#include <new>

#include "backends/client/client_state.h"
#include "ir/eval/device_network.h"

namespace hlo {
namespace {

/// Memory that is in use while it lives.
class Reservation {
 public:
  static Result<Reservation> Make(ClientState& client, int64_t bytes) {
    HLO_CHECK_OK(client.Reserve(bytes));
    return Reservation(client, bytes);
  }
  Reservation(Reservation&& o) noexcept : client_(o.client_), bytes_(std::exchange(o.bytes_, 0)) {}
  Reservation& operator=(Reservation&&) = delete;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() {
    if (bytes_ != 0) client_->Release(bytes_);
  }

 private:
  Reservation(ClientState& client, int64_t bytes) : client_(&client), bytes_(bytes) {}
  ClientState* client_;
  int64_t bytes_;
};

int64_t DevicesHere(const DeviceNetwork& network, int64_t devices) {
  int64_t count = 0;
  for (int64_t d = 0; d < devices; ++d) count += network.IsHere(d, devices) ? 1 : 0;
  return count;
}

/// Errors limit-memory, and runtime-memory where the client has no limit, if `bytes` are too many for a run
/// of `program` on `devices`.
Status CheckFits(const ClientState& client, const Executable& program, int64_t bytes, int64_t devices) {
  const int64_t limit = client.options().memory_limit;
  if (bytes == 0 || bytes <= (limit > 0 ? limit : MachineMemory())) return {};
  const std::optional<MemoryPlan> plan = program.Memory();
  assert(plan && "the bytes are those of a plan");
  return CheckMemoryPlan(*plan, devices, limit);
}

/// One run, `run`, within the limits of the client.
template <class Run>
std::invoke_result_t<Run> RunWithin(ClientState& client, const Executable& program, int64_t bytes,
                                    const ExecutionOptions& options, Run run) {
  const ClientWork work(client, options.stop);
  // Short programs look for requests seldom.
  if (Interrupted()) return Error(InterruptedError());
  int64_t devices = options.only_device ? 1 : options.replica_count * options.partition_count;
  if (devices < 1) return Error("usage-devices", {}, "the run has {0} devices", devices);
  if (!options.only_device && options.network != nullptr) devices = DevicesHere(*options.network, devices);
  const int64_t all = bytes > INT64_MAX / devices ? INT64_MAX : bytes * devices;
  HLO_CHECK_OK(CheckFits(client, program, all, devices));
  HLO_TRY(const Reservation memory, Reservation::Make(client, all));
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return Error("runtime-memory", {}, "out of memory");
  }
}

/// The same where others may have devices of the run, in its place among those of the network; `ready`: an
/// error that keeps it from beginning.
template <class Run>
std::invoke_result_t<Run> RunFor(ClientState& client, const Executable& program, int64_t bytes,
                                 const ExecutionOptions& options, Run run, Status ready = {},
                                 std::optional<uint64_t> place = {}) {
  const auto within = [&]() -> std::invoke_result_t<Run> {
    HLO_CHECK_OK(std::move(ready));
    return RunWithin(client, program, bytes, options, run);
  };
  DeviceNetwork* const network = options.only_device ? nullptr : options.network;
  if (network == nullptr) return within();
  const uint64_t mine = place ? *place : network->NextPlace();
  network->Enter(mine, program.module());
  std::invoke_result_t<Run> done = within();
  network->Leave(mine, done ? Status() : Status(Error(done.error())));
  return done;
}

/// Whether a device of a run is in this process.
bool IsHere(const ExecutionOptions& options, size_t device) {
  return options.only_device || options.network == nullptr ||
         options.network->IsHere(static_cast<int64_t>(device),
                                 options.replica_count * options.partition_count);
}

Status CheckArguments(const Module& module, const std::vector<std::vector<BufferArgument>>& arguments,
                      const ExecutionOptions& options) {
  const int64_t devices = options.replica_count * options.partition_count;
  const auto& parameters = module.entry()->parameters();
  if (static_cast<int64_t>(arguments.size()) != devices)
    return Error("input-shape", {}, "arguments for {0} devices, the run has {1}", arguments.size(), devices);
  for (size_t d = 0; d < arguments.size(); ++d) {
    const auto& mine = arguments[d];
    if (mine.empty() && !IsHere(options, d)) continue;
    if (mine.size() != parameters.size())
      return Error("input-shape", {}, "{0} arguments, the program has {1} parameters", mine.size(),
                   parameters.size());
    for (size_t p = 0; p < mine.size(); ++p)
      if (!IsArgumentFor(mine[p].buffer.shape(), parameters[p]->shape()))
        return Error("input-shape", parameters[p]->loc(), "the argument for %{0} is {1}, the parameter {2}",
                     parameters[p]->name(), mine[p].buffer.shape(), parameters[p]->shape());
  }
  return {};
}

}  // namespace

/// A run that has been asked for: where its arguments come from and where its results go.
struct ClientProgram::Task {
  std::shared_ptr<const Module> kept;
  std::shared_ptr<const Executable> program;
  int64_t bytes;
  const ExecutionOptions* options;  // of the caller, or `own`
  std::optional<ExecutionOptions> own;
  std::shared_ptr<StopToken> stop;  // of this run alone; null: of one that is waited for
  std::vector<std::vector<PendingValue>> arguments;
  std::vector<std::vector<bool>> donated;
  std::vector<std::vector<PendingValue>> results;  // by device, of a tuple its elements
  std::optional<uint64_t> place;                   // among the runs of a network
  std::shared_ptr<Pending<Execution::Outfeeds>> outfeeds;

  Result<std::vector<std::vector<DeviceValue>>> TakeArguments() {
    std::vector<std::vector<DeviceValue>> values(arguments.size());
    for (size_t d = 0; d < arguments.size(); ++d)
      for (size_t p = 0; p < arguments[d].size(); ++p) {
        HLO_CHECK_OK(arguments[d][p]->Wait());
        // Of a buffer that was donated nobody else has the value but runs that were asked for earlier.
        const bool only = donated[d][p] && arguments[d][p].use_count() == 1;
        HLO_TRY(DeviceValue value, only ? arguments[d][p]->Take() : arguments[d][p]->Get());
        HLO_TRY(value, AsArgument(std::move(value), program->module().entry()->parameters()[p]->shape()));
        values[d].push_back(std::move(value));
        arguments[d][p].reset();
      }
    return values;
  }

  void Fail(const Diagnostic& error) {
    for (auto& mine : results)
      for (PendingValue& result : mine) result->Set(Error(error));
    outfeeds->Set(Error(error));
  }

  void Do(ClientState& client) {
    // Before memory is set aside: what makes them may need some.
    auto values = TakeArguments();
    auto done = RunFor(
        client, *program, bytes, *options, [&] { return program->RunOnValues(std::move(*values), *options); },
        values ? Status() : Status(Error(values.error())), place);
    if (!done) return Fail(done.error());
    for (size_t d = 0; d < results.size(); ++d) {
      std::vector<DeviceValue>& parts = done->results[d];
      for (size_t i = 0; i < results[d].size(); ++i)
        if (i < parts.size())
          results[d][i]->Set(std::move(parts[i]));
        else
          results[d][i]->Set(Error("runtime-buffer", {}, "device {0} did not run{1}", d,
                                   options->only_device ? "" : ": it is in another process"));
    }
    outfeeds->Set(std::move(done->outfeeds));
  }
};

bool IsArgumentFor(const Shape& shape, const Shape& parameter) {
  if (shape == parameter) return true;
  ShapeComparison how;
  how.dynamic = shape.HasDynamicDimension();
  return Same(shape, parameter, how);
}

Literal AsArgument(Literal value, const Shape& parameter) {
  if (value.shape() != parameter) value = value.WithShape(parameter);
  return value;
}

Result<DeviceValue> AsArgument(DeviceValue value, const Shape& parameter) {
  ShapeComparison but_for_layouts;
  but_for_layouts.dynamic = true;
  if (value.IsOnDevice() && Same(value.shape(), parameter, but_for_layouts)) return value;
  HLO_TRY(Literal host, std::move(value).ToHost());
  return DeviceValue(AsArgument(std::move(host), parameter));
}

Status ClientState::Reserve(int64_t bytes) {
  const int64_t limit = options_.memory_limit;
  if (bytes == 0 || limit == 0) return {};
  constexpr std::chrono::milliseconds kBetweenPolls{50};
  std::unique_lock lock(memory_);
  while (bytes > limit - in_use_) {
    if (Interrupted()) return Error(InterruptedError());
    released_.wait_for(lock, kBetweenPolls);
  }
  in_use_ += bytes;
  return {};
}

void ClientState::Release(int64_t bytes) {
  if (options_.memory_limit == 0) return;
  {
    const std::lock_guard lock(memory_);
    in_use_ -= bytes;
  }
  released_.notify_all();
}

ClientProgram::ClientProgram(std::shared_ptr<ClientState> client, std::unique_ptr<Executable> program)
    : client_(std::move(client)), program_(std::move(program)) {
  // Memory of a GPU is not the machine's.
  const bool could_end = client_->platform() != Platform::Gpu && HasManyBytes(program_->module());
  if (client_->options().memory_limit == 0 && !could_end) return;
  if (const std::optional<MemoryPlan> plan = program_->Memory()) bytes_ = plan->peak();
}

Result<ExecutionResult> ClientProgram::Run(std::vector<std::vector<Literal>> arguments,
                                           const ExecutionOptions& options) const {
  return RunFor(*client_, *program_, bytes_, options,
                [&] { return program_->Run(std::move(arguments), options); });
}

Result<DeviceResult> ClientProgram::RunOnValues(std::vector<std::vector<DeviceValue>> arguments,
                                                const ExecutionOptions& options) const {
  return RunFor(*client_, *program_, bytes_, options,
                [&] { return program_->RunOnValues(std::move(arguments), options); });
}

Result<std::shared_ptr<ClientProgram::Task>> ClientProgram::NewTask(
    std::vector<std::vector<BufferArgument>> arguments, const ExecutionOptions& options,
    Execution& execution) const {
  HLO_CHECK_OK(CheckArguments(module(), arguments, options));
  const int64_t devices = options.replica_count * options.partition_count;
  auto task = std::make_shared<Task>();
  task->kept = kept_;
  task->program = program_;
  task->bytes = bytes_;
  task->options = &options;
  task->arguments.resize(arguments.size());
  task->donated.resize(arguments.size());
  std::vector<std::pair<const DeviceBuffer*, bool>> wanted;
  for (size_t d = 0; d < arguments.size(); ++d)
    for (const BufferArgument& argument : arguments[d]) {
      wanted.emplace_back(&argument.buffer, argument.donate);
      task->donated[d].push_back(argument.donate);
    }
  HLO_TRY(std::vector<PendingValue> claimed, DeviceBuffer::ClaimAll(wanted));
  for (size_t d = 0, next = 0; d < arguments.size(); ++d)
    for (size_t p = 0; p < arguments[d].size(); ++p) task->arguments[d].push_back(std::move(claimed[next++]));
  const Shape& root = module().entry()->root()->shape();
  execution.results.resize(static_cast<size_t>(devices));
  for (auto& mine : execution.results) {
    std::vector<PendingValue>& pending = task->results.emplace_back();
    for (const Shape& shape : root.IsTuple() ? root.tuple_shapes() : llvm::ArrayRef(root)) {
      auto made = std::make_shared<Pending<DeviceValue>>();
      pending.push_back(made);
      // Users are counted apart from who makes it: Arguments() asks whether there is another one.
      mine.emplace_back(shape, PendingValue(made.get(), [made](Pending<DeviceValue>*) {}));
    }
  }
  execution.outfeeds = task->outfeeds = std::make_shared<Pending<Execution::Outfeeds>>();
  return task;
}

Result<std::shared_ptr<ClientProgram::Task>> ClientProgram::NewTaskFor(
    std::vector<std::vector<BufferArgument>> arguments, const ExecutionOptions& options,
    Execution& execution) const {
  auto task = NewTask(std::move(arguments), options, execution);
  if (!task && options.network != nullptr && !options.only_device)
    options.network->Refuse(module(), task.error());
  return task;
}

Result<Execution> ClientProgram::Execute(std::vector<std::vector<BufferArgument>> arguments,
                                         const ExecutionOptions& options) const {
  Execution execution;
  HLO_TRY(const std::shared_ptr<Task> task, NewTaskFor(std::move(arguments), options, execution));
  task->Do(*client_);
  HLO_CHECK_OK(execution.Wait());
  return execution;
}

Result<Execution> ClientProgram::Begin(std::vector<std::vector<BufferArgument>> arguments,
                                       const ExecutionOptions& options) const {
  Execution execution;
  HLO_TRY(std::shared_ptr<Task> task, NewTaskFor(std::move(arguments), options, execution));
  task->options = &task->own.emplace(options);
  execution.stop = task->stop =
      std::make_shared<StopToken>(options.stop != nullptr ? options.stop : &client_->stop());
  task->own->stop = task->stop.get();
  // Tasks begin in the order of their places, or one waits for another that waits for its thread.
  std::unique_lock order(client_->order(), std::defer_lock);
  if (options.network != nullptr && !options.only_device) {
    order.lock();
    task->place = options.network->NextPlace();
  }
  // The client waits for its tasks at its end.
  client_->dispatcher().Add([task = std::move(task), client = client_.get()] { task->Do(*client); });
  return execution;
}

Result<std::optional<int64_t>> ClientProgram::DeviceTime(const std::vector<std::vector<Literal>>& arguments,
                                                         const ExecutionOptions& options) const {
  const ClientWork work(*client_, options.stop);
  return program_->DeviceTime(arguments, options);
}

void ClientProgram::Expect(int64_t argument_bytes) {
  const WorkScope scope({&client_->stop(), client_->pool()});
  program_->Expect(argument_bytes);
}

}  // namespace hlo
