// Programs and their runs.
#include "backends/profile.h"
#include "ir/eval/device_network.h"
#include "ir/print.h"
#include "tools/library/client_state.h"
#include "tools/library/spread.h"

namespace hlo_toolkit {

using internal::BufferState;
using internal::ExecutableState;
using internal::ExecutionState;
using internal::LiteralAccess;
using internal::ToStatus;
using internal::Wrong;

struct StopSource::Token {
  explicit Token(std::shared_ptr<internal::ClientState> of)
      : client(std::move(of)), token(&client->client().stop()) {}
  std::shared_ptr<internal::ClientState> client;
  hlo::StopToken token;
};
StopSource::StopSource(const Client& client) : token_(std::make_unique<Token>(client.state_)) {}
StopSource::~StopSource() = default;
void StopSource::Request() { token_->token.Request(hlo::InterruptCause::Signal); }

namespace internal {

ResultShapes::ResultShapes(const hlo::Shape& shape) : whole(std::make_shared<Shape>(FromShape(shape))) {
  if (!shape.IsTuple()) parts.push_back(whole);
  if (shape.IsTuple())
    for (const Shape& part : whole->tuple_shapes()) parts.push_back(std::make_shared<Shape>(part));
}

Execution ExecutionState::Make(hlo::Execution run, const ExecutableState& executable) {
  Execution made;
  made.state_ = std::make_shared<ExecutionState>(
      ExecutionState{std::move(run), executable.client, executable.results, executable.devices});
  return made;
}

Executable ExecutableState::Wrap(std::shared_ptr<const ExecutableState> state) {
  Executable made;
  made.state_ = std::move(state);
  return made;
}

hlo::Result<std::shared_ptr<const ExecutableState>> ExecutableState::Make(
    std::shared_ptr<ClientState> client, std::shared_ptr<const hlo::Module> module,
    const CompileOptions& options, std::string* code) {
  auto made = std::make_shared<ExecutableState>();
  made->how = options;
  const int64_t replicas = options.replica_count, partitions = options.partition_count;
  const int64_t most = client->options().device_count;
  if (replicas < 1 || partitions < 1 || replicas > most / partitions)
    return Wrong("{0} replicas of {1} partitions, the client has {2} devices", replicas, partitions, most);
  HLO_TRY(made->devices, DevicesFor(*client, options));
  if (options.optimization_level < 0 || options.optimization_level > 3)
    return Wrong("there is no optimization level {0}", options.optimization_level);
  made->execution = client->client().NewExecution();
  made->execution.replica_count = replicas;
  made->execution.partition_count = partitions;
  made->execution.host = std::make_shared<ProgramMailbox>(client->boxes(), made->devices);
  const bool spread = client->ProcessOf(made->devices.front()) != client->ProcessOf(made->devices.back());
  if (spread) made->execution.network = client->processes();
  hlo::CompileOptions inner;
  inner.passes.optimization_level = options.optimization_level;
  inner.store.own = code;
  if (const hlo::Platform made_for = client->client().platform(); hlo::IsGpu(made_for)) {
    HLO_TRY(inner.gpu.target, hlo::gpu::FindTarget(client->options().gpu_target));
    if (!options.device_assignment.empty()) inner.gpu.gpus = made->devices;
    // Who says where a program runs has as many emulated GPUs as devices.
    for (const int gpu : inner.gpu.gpus)
      inner.gpu.platform.emulation.devices = std::max(inner.gpu.platform.emulation.devices, gpu + 1);
  }
  HLO_TRY(made->program, CompileWith(*client, *module, inner, made->execution));
  made->client = std::move(client);
  made->name = module->name().str();
  for (const hlo::Instruction* parameter : module->entry()->parameters()) {
    made->parameters.push_back(parameter->shape());
    made->shape.parameter_names.push_back(parameter->name().str());
  }
  const hlo::EntryLayout& layout = *module->config.entry_layout;
  for (const hlo::Shape& parameter : layout.parameters)
    made->shape.parameters.push_back(FromShape(parameter));
  made->results = std::make_shared<ResultShapes>(layout.result);
  made->shape.result = *made->results->whole;
  made->program->Keep(module);
  made->module = std::move(module);
  return std::shared_ptr<const ExecutableState>(std::move(made));
}

hlo::ExecutionOptions ExecutableState::ExecutionFor(const ExecuteOptions& options) const {
  hlo::ExecutionOptions made = execution;
  if (options.seed) made.rng_seed = *options.seed;
  if (options.stop) made.stop = &options.stop->token_->token;
  return made;
}

hlo::Result<std::vector<hlo::BufferArgument>> ExecutableState::ArgumentsOf(
    size_t device, Span<const Buffer> buffers, const ExecuteOptions& options) const {
  if (buffers.size() != parameters.size())
    return Wrong("{0} arguments, the program has {1} parameters", buffers.size(), parameters.size());
  std::vector<hlo::BufferArgument> made;
  made.reserve(buffers.size());
  for (size_t p = 0; p < buffers.size(); ++p) {
    const BufferState* buffer = BufferState::Get(buffers[p]);
    if (!buffer) return Wrong("argument {0} is no buffer", p);
    if (buffer->client != client) return Wrong("argument {0} is a buffer of another client", p);
    if (buffer->device != devices[device])
      return Wrong("argument {0} is on device {1}, the program runs on device {2}", p, buffer->device,
                   devices[device]);
    if (!hlo::IsArgumentFor(buffer->InnerShape(), parameters[p]))
      return Wrong("argument {0} is {1}, parameter %{2} is {3}", p, buffer->shape->ToString(),
                   shape.parameter_names[p], parameters[p]);
  }
  // Nothing is given away before all is known to be right.
  for (size_t p = 0; p < buffers.size(); ++p) {
    const BufferState* buffer = BufferState::Get(buffers[p]);
    const bool donate = llvm::is_contained(options.donated, static_cast<int64_t>(p));
    if (!buffer->shape->IsTuple()) {
      made.push_back({buffer->parts.front(), donate});
      continue;
    }
    HLO_TRY(hlo::DeviceBuffer whole, hlo::DeviceBuffer::OfElements(buffer->parts, donate));
    made.push_back({std::move(whole), donate});
  }
  return made;
}

hlo::Result<std::vector<std::vector<hlo::BufferArgument>>> ExecutableState::AllArgumentsOf(
    Span<const std::vector<Buffer>> arguments, const ExecuteOptions& options) const {
  if (arguments.size() != devices.size())
    return Wrong("arguments for {0} devices, the program has {1}", arguments.size(), devices.size());
  for (const int64_t p : options.donated)
    if (p < 0 || p >= static_cast<int64_t>(parameters.size()))
      return Wrong("there is no parameter {0} to donate", p);
  std::vector<std::vector<hlo::BufferArgument>> made(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d) {
    if (!IsHere(d)) continue;
    HLO_TRY(made[d], ArgumentsOf(d, arguments[d], options));
  }
  return made;
}

hlo::Diagnostic ExecutableState::Refuse(hlo::Diagnostic why) const {
  if (execution.network == nullptr) return why;
  if (why.id.empty()) why.id = hlo::DiagnosticId("input-shape");
  execution.network->Refuse(program->module(), why);
  return why;
}

hlo::Result<Execution> ExecutableState::Run(Span<const std::vector<Buffer>> arguments,
                                            const ExecuteOptions& options, bool wait) const {
  auto inner = AllArgumentsOf(arguments, options);
  if (!inner) return hlo::Error(Refuse(std::move(inner).error()));
  const bool plain = !options.seed && !options.stop;
  const auto run = [&](const hlo::ExecutionOptions& inner_options) {
    return wait ? program->Execute(std::move(*inner), inner_options)
                : program->Begin(std::move(*inner), inner_options);
  };
  HLO_TRY(hlo::Execution begun, plain ? run(execution) : run(ExecutionFor(options)));
  return ExecutionState::Make(std::move(begun), *this);
}

hlo::Result<std::optional<std::vector<Buffer>>> ExecutableState::RunAtOnce(
    Span<const Buffer> arguments) const {
  if (devices.size() != 1 || arguments.size() != parameters.size()) return std::nullopt;
  std::vector<std::vector<hlo::DeviceValue>> values(1);
  values[0].reserve(arguments.size());
  for (size_t p = 0; p < arguments.size(); ++p) {
    const BufferState* buffer = BufferState::Get(arguments[p]);
    if (!buffer || buffer->client != client || buffer->device != devices[0] || buffer->shape->IsTuple() ||
        !buffer->parts.front().IsReady())
      return std::nullopt;
    HLO_TRY(hlo::DeviceValue value, buffer->parts.front().Value());
    if (!hlo::IsArgumentFor(value.shape(), parameters[p])) return std::nullopt;
    HLO_TRY(value, hlo::AsArgument(std::move(value), parameters[p]));
    values[0].push_back(std::move(value));
  }
  HLO_TRY(hlo::DeviceResult done, program->RunOnValues(std::move(values), execution));
  std::vector<Buffer> made;
  made.reserve(done.results.front().size());
  for (hlo::DeviceValue& part : done.results.front())
    made.push_back(BufferState::Of(client, results->parts[made.size()], devices[0],
                                   hlo::Client::Transfer(std::move(part))));
  return made;
}

namespace {

/// Arguments of one device as the backends take them.
hlo::Result<std::vector<hlo::Literal>> LiteralsOf(const ExecutableState& executable,
                                                  Span<const Literal> arguments) {
  const std::vector<hlo::Shape>& parameters = executable.parameters;
  if (arguments.size() != parameters.size())
    return Wrong("{0} arguments, the program has {1} parameters", arguments.size(), parameters.size());
  std::vector<hlo::Literal> made;
  made.reserve(arguments.size());
  for (size_t p = 0; p < arguments.size(); ++p) {
    const hlo::Literal* literal = LiteralAccess::Get(arguments[p]);
    if (!literal) return Wrong("argument {0} is no value", p);
    if (!hlo::IsArgumentFor(literal->shape(), parameters[p]))
      return Wrong("argument {0} is {1}, parameter %{2} is {3}", p, literal->shape(),
                   executable.shape.parameter_names[p], parameters[p]);
    made.push_back(hlo::AsArgument(*literal, parameters[p]));
  }
  return made;
}

}  // namespace
}  // namespace internal

namespace {

Status Null() { return {StatusCode::kInvalidArgument, "the executable is null"}; }

/// Of the devices of this process.
hlo::Result<std::vector<std::vector<hlo::Literal>>> AllLiteralsOf(
    const ExecutableState& executable, Span<const std::vector<Literal>> arguments) {
  if (arguments.size() != executable.devices.size())
    return Wrong("arguments for {0} devices, the program has {1}", arguments.size(),
                 executable.devices.size());
  std::vector<std::vector<hlo::Literal>> values(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d) {
    if (!executable.IsHere(d)) continue;
    HLO_TRY(values[d], internal::LiteralsOf(executable, arguments[d]));
  }
  return values;
}

/// A run on literals that waits.
hlo::Result<std::vector<Literal>> RunOnLiterals(const ExecutableState& executable,
                                                Span<const std::vector<Literal>> arguments,
                                                const ExecuteOptions& options) {
  auto values = AllLiteralsOf(executable, arguments);
  if (!values) return hlo::Error(executable.Refuse(std::move(values).error()));
  const bool plain = !options.seed && !options.stop;
  HLO_TRY(hlo::ExecutionResult done,
          plain ? executable.program->Run(std::move(*values), executable.execution)
                : executable.program->Run(std::move(*values), executable.ExecutionFor(options)));
  std::vector<Literal> results;
  results.reserve(done.results.size());
  for (size_t d = 0; d < done.results.size(); ++d)
    results.push_back(executable.IsHere(d)
                          ? LiteralAccess::Make(done.results[d].Unpack(), executable.results->whole)
                          : Literal());
  return results;
}

}  // namespace

std::vector<Buffer> Execution::results(int64_t device) const {
  if (!state_ || device < 0 || device >= static_cast<int64_t>(state_->devices.size())) return {};
  const auto d = static_cast<size_t>(device);
  std::vector<Buffer> made;
  for (size_t i = 0; i < state_->run.results[d].size(); ++i)
    made.push_back(BufferState::Of(state_->client, state_->shapes->parts[i], state_->devices[d],
                                   state_->run.results[d][i]));
  return made;
}

Buffer Execution::result(int64_t device) const {
  if (!state_ || device < 0 || device >= static_cast<int64_t>(state_->devices.size())) return {};
  const auto d = static_cast<size_t>(device);
  return BufferState::Make(
      {state_->client, state_->shapes->whole, state_->devices[d], state_->run.results[d]});
}

int64_t Execution::device_count() const { return state_ ? static_cast<int64_t>(state_->devices.size()) : 0; }

bool Execution::IsReady() const { return !state_ || state_->run.outfeeds->IsSet(); }

bool Execution::WaitFor(std::chrono::nanoseconds limit) const {
  return !state_ || state_->run.outfeeds->WaitFor(limit);
}

void Execution::Cancel() const {
  if (state_ && state_->run.stop) state_->run.stop->Request(hlo::InterruptCause::Signal);
}

Status Execution::Await() const {
  if (!state_) return {StatusCode::kInvalidArgument, "there is no run"};
  const hlo::Status status = state_->run.Wait();
  return status ? Status() : ToStatus(status.error());
}

const std::string& Executable::name() const {
  static const std::string none;
  return state_ ? state_->name : none;
}

const ProgramShape& Executable::program_shape() const {
  static const ProgramShape none;
  return state_ ? state_->shape : none;
}

int64_t Executable::device_count() const { return state_ ? static_cast<int64_t>(state_->devices.size()) : 0; }

StatusOr<Literal> Executable::Run(Span<const Literal> arguments, const ExecuteOptions& options) const {
  if (!state_) return Null();
  const std::vector<Literal> mine = arguments.ToVector();
  auto results = RunOnLiterals(*state_, Span<const std::vector<Literal>>(&mine, 1), options);
  if (!results) return ToStatus(results.error());
  return std::move(results->front());
}

StatusOr<std::vector<Literal>> Executable::RunOnDevices(Span<const std::vector<Literal>> arguments,
                                                        const ExecuteOptions& options) const {
  if (!state_) return Null();
  auto results = RunOnLiterals(*state_, arguments, options);
  if (!results) return ToStatus(results.error());
  return std::move(*results);
}

StatusOr<std::vector<Buffer>> Executable::Execute(Span<const Buffer> arguments,
                                                  const ExecuteOptions& options) const {
  if (!state_) return Null();
  if (options.donated.empty() && !options.seed && !options.stop) {
    auto results = state_->RunAtOnce(arguments);
    if (!results) return ToStatus(results.error());
    if (*results) return std::move(**results);
  }
  const std::vector<Buffer> mine = arguments.ToVector();
  const auto run = state_->Run(Span<const std::vector<Buffer>>(&mine, 1), options, /*wait=*/true);
  if (!run) return ToStatus(run.error());
  return run->results();
}

StatusOr<Execution> Executable::ExecuteAsync(Span<const Buffer> arguments,
                                             const ExecuteOptions& options) const {
  const std::vector<Buffer> mine = arguments.ToVector();
  return ExecuteAsyncOnDevices(Span<const std::vector<Buffer>>(&mine, 1), options);
}

StatusOr<Execution> Executable::ExecuteAsyncOnDevices(Span<const std::vector<Buffer>> arguments,
                                                      const ExecuteOptions& options) const {
  if (!state_) return Null();
  auto run = state_->Run(arguments, options, /*wait=*/false);
  if (!run) return ToStatus(run.error());
  return std::move(*run);
}

std::optional<MemoryReport> Executable::memory() const {
  if (!state_) return std::nullopt;
  const std::optional<hlo::MemoryPlan> plan = state_->program->Memory();
  if (!plan) return std::nullopt;
  return MemoryReport{plan->arguments, plan->results, plan->temporaries, plan->constants, plan->aliased};
}

StatusOr<ProfileReport> Executable::Profile(Span<const Literal> arguments, int runs) const {
  if (!state_) return Null();
  if (runs < 1) return Status(StatusCode::kInvalidArgument, "no runs to profile");
  const auto values = internal::LiteralsOf(*state_, arguments);
  if (!values) return ToStatus(values.error());
  hlo::Profile profile;
  hlo::ExecutionOptions execution = state_->execution;
  execution.profile = &profile;
  for (int i = 0; i < runs; ++i)
    if (const auto done = state_->program->Run({*values}, execution); !done) return ToStatus(done.error());
  ProfileReport report;
  report.runs = runs;
  report.total = std::chrono::nanoseconds(profile.device_ns());
  for (const auto& [inst, entry] : profile.entries())
    report.rows.push_back({inst->name().str(), inst->info().text.str(), hlo::ToString(*inst), entry.library,
                           entry.calls, std::chrono::nanoseconds(entry.time_ns)});
  llvm::sort(report.rows, [](const auto& a, const auto& b) {
    return std::tie(b.time, a.name) < std::tie(a.time, b.name);
  });
  return report;
}

std::string Executable::OptimizedText() const {
  return state_ ? hlo::ToString(state_->program->module()) : std::string();
}

StatusOr<std::string> Executable::Serialize() const {
  if (!state_) return Null();
  return internal::ToBytes(*state_);
}

}  // namespace hlo_toolkit
