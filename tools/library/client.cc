#include "hlo/client.h"

#include "ir/support/interrupt.h"
#include "tools/library/client_state.h"
#include "tools/library/spread.h"

namespace hlo_toolkit {

using internal::BufferState;
using internal::ClientState;
using internal::ExecutableState;
using internal::LiteralAccess;
using internal::Mailboxes;
using internal::ToStatus;
using internal::Wrong;

namespace internal {

hlo::Status ClientState::CheckDevice(int64_t device) const {
  if (device >= 0 && device < options_.device_count) return {};
  return Wrong("there is no device {0}, the client has {1}", device, options_.device_count);
}

hlo::Status ClientState::CheckDeviceHere(int64_t device) const {
  HLO_CHECK_OK(CheckDevice(device));
  if (const int process = ProcessOf(static_cast<int>(device)); process != process_index())
    return Wrong("device {0} is in process {1}, this is process {2}", device, process, process_index());
  return {};
}

std::shared_ptr<const ExecutableState> ClientState::FindCompiled(uint64_t computation) {
  const std::lock_guard lock(mutex_);
  for (auto it = compiled_.begin(); it != compiled_.end(); ++it)
    if (it->first == computation) {
      compiled_.splice(compiled_.begin(), compiled_, it);
      return it->second;
    }
  return nullptr;
}

void ClientState::KeepCompiled(uint64_t computation, std::shared_ptr<const ExecutableState> executable) {
  constexpr size_t kMostKept = 64;
  const std::lock_guard lock(mutex_);
  compiled_.emplace_front(computation, std::move(executable));
  if (compiled_.size() > kMostKept) compiled_.pop_back();
}

void ClientState::ForgetCompiled() {
  const std::lock_guard lock(mutex_);
  compiled_.clear();
}

namespace {

/// The client's options in the form of the backends.
hlo::Result<hlo::ClientOptions> InnerOptions(const ClientOptions& options) {
  constexpr int kMostDevices = 4096;
  // Of several processes each may have one without a word.
  const int least = options.launcher == "threads" ? 1 : 0;
  if (options.device_count < least || options.device_count > kMostDevices)
    return Wrong("a client of {0} devices; 1 to {1} are possible", options.device_count, kMostDevices);
  if (options.threads < 0) return Wrong("a client of {0} threads", options.threads);
  if (options.memory_limit < 0) return Wrong("a memory limit of {0} bytes", options.memory_limit);
  if (options.time_limit.count() < 0) return Wrong("a time limit of {0} ms", options.time_limit.count());
  hlo::ClientOptions inner;
  inner.threads = options.threads;
  inner.cache = options.cache;
  inner.cache_folder = options.cache_folder;
  inner.memory_limit = options.memory_limit;
  inner.time_limit = options.time_limit;
  inner.seed = options.seed;
  inner.stop = nullptr;
  return inner;
}

hlo::Result<std::shared_ptr<ClientState>> NewClient(const ClientOptions& options) {
  std::string names;
  for (const hlo::PlatformInfo& info : hlo::Platforms()) {
    names += (names.empty() ? "" : ", ") + info.name.str();
    if (info.name != options.platform) continue;
    if (hlo::IsGpu(info.platform)) HLO_CHECK_OK(hlo::gpu::FindTarget(options.gpu_target));
    HLO_TRY(hlo::ClientOptions inner, InnerOptions(options));
    HLO_TRY(hlo::processes::Processes* const processes, ProcessesFor(options));
    const int count = processes != nullptr ? processes->size() : 1;
    ClientOptions mine = options;
    if (mine.device_count == 0) mine.device_count = count;
    if (mine.device_count % count != 0)
      return Wrong("{0} processes cannot share {1} devices evenly", count, mine.device_count);
    return std::make_shared<ClientState>(info.platform, std::move(inner), std::move(mine), processes,
                                         processes != nullptr ? NextClientNumber() : 0);
  }
  return Wrong("there is no platform '{0}'; there are {1}", options.platform, names);
}

/// The computation with other layouts of what goes in and out, where these are asked for.
hlo::Result<std::shared_ptr<const hlo::Module>> WithLayouts(std::shared_ptr<const hlo::Module> module,
                                                            const CompileOptions& options) {
  const auto& parameters = module->entry()->parameters();
  hlo::EntryLayout layout;
  if (module->config.entry_layout) {
    layout = *module->config.entry_layout;
  } else {
    for (const hlo::Instruction* parameter : parameters)
      layout.parameters.push_back(parameter->shape().WithDefaultLayouts());
    layout.result = module->entry()->root()->shape().WithDefaultLayouts();
  }
  const bool asked = !options.argument_layouts.empty() || options.result_layout;
  if (!asked && module->config.entry_layout) return module;
  if (!options.argument_layouts.empty() && options.argument_layouts.size() != parameters.size())
    return Wrong("layouts of {0} arguments, the computation has {1} parameters",
                 options.argument_layouts.size(), parameters.size());
  const auto take = [](const Shape& wanted, hlo::Shape& shape, const std::string& what) -> hlo::Status {
    HLO_TRY(const hlo::Shape made, ToShape(wanted));
    hlo::ShapeComparison how;
    how.dynamic = true;
    if (!hlo::Same(made, shape, how))
      return Wrong("the layout of {0} is of {1}, not of {2}", what, made, shape);
    shape = made;
    return {};
  };
  for (size_t p = 0; p < options.argument_layouts.size(); ++p)
    HLO_CHECK_OK(take(options.argument_layouts[p], layout.parameters[p], "argument " + std::to_string(p)));
  if (options.result_layout) HLO_CHECK_OK(take(*options.result_layout, layout.result, "the result"));
  std::unique_ptr<hlo::Module> copy = module->Clone();
  copy->config.entry_layout = std::move(layout);
  return std::shared_ptr<const hlo::Module>(std::move(copy));
}

hlo::Result<std::shared_ptr<const ExecutableState>> CompileFor(std::shared_ptr<ClientState> client,
                                                               const XlaComputation& computation,
                                                               const CompileOptions& options) {
  std::shared_ptr<const hlo::Module> module = ComputationAccess::Share(computation);
  if (!module) return Wrong("the computation is null");
  HLO_TRY(module, WithLayouts(std::move(module), options));
  return ExecutableState::Make(std::move(client), std::move(module), options);
}

/// Compiled when first seen.
hlo::Result<std::shared_ptr<const ExecutableState>> Compiled(const std::shared_ptr<ClientState>& client,
                                                             const XlaComputation& computation) {
  const hlo::Module* module = ComputationAccess::Module(computation);
  if (!module) return Wrong("the computation is null");
  uint64_t number = 0;
  for (size_t i = 0; i < module->computations().size(); ++i)
    if (module->computations()[i].get() == module->entry()) number = ComputationAccess::Ids(computation)[i];
  if (auto there = client->FindCompiled(number)) return there;
  HLO_TRY(auto made, CompileFor(client, computation, {}));
  client->KeepCompiled(number, made);
  return made;
}

hlo::Result<Buffer> NewBuffer(const std::shared_ptr<ClientState>& client, const Literal& literal,
                              int device) {
  const hlo::Literal* value = LiteralAccess::Get(literal);
  if (!value) return Wrong("the literal has no value");
  HLO_CHECK_OK(client->CheckDeviceHere(device));
  std::vector<hlo::DeviceBuffer> parts;
  if (value->shape().IsTuple())
    for (const hlo::Literal& part : value->elements()) parts.push_back(hlo::Client::Transfer(part));
  else
    parts.push_back(hlo::Client::Transfer(*value));
  return BufferState::Make({client, std::make_shared<Shape>(literal.shape()), device, std::move(parts)});
}

/// An array out of memory in the order of its layout.
hlo::Result<Literal> CheckedFromMemory(const Shape& shape, const void* data) {
  HLO_TRY(const hlo::Shape made, ToShape(shape));
  HLO_CHECK_OK(CheckOrder(made));
  if (data == nullptr && made.ElementCount() != 0) return Wrong("there is no memory to take {0} from", made);
  return LiteralAccess::Make(FromMemory(made, data));
}

}  // namespace
}  // namespace internal

Client::Client(std::shared_ptr<ClientState> state) : state_(std::move(state)) {}
Client::~Client() { state_->ForgetCompiled(); }

StatusOr<std::unique_ptr<Client>> Client::Create(const ClientOptions& options) {
  auto state = internal::NewClient(options);
  if (!state) return ToStatus(state.error());
  return std::unique_ptr<Client>(new Client(std::move(*state)));
}

const ClientOptions& Client::options() const { return state_->options(); }
int Client::process_index() const { return state_->process_index(); }
int Client::process_count() const { return state_->process_count(); }

std::vector<int> Client::addressable_devices() const {
  std::vector<int> devices;
  for (int d = 0; d < device_count(); ++d)
    if (state_->ProcessOf(d) == process_index()) devices.push_back(d);
  return devices;
}

StatusOr<Executable> Client::Compile(const XlaComputation& computation, const CompileOptions& options) const {
  auto made = internal::CompileFor(state_, computation, options);
  if (!made) return ToStatus(made.error());
  return ExecutableState::Wrap(std::move(*made));
}

StatusOr<Executable> Client::LoadSerialized(std::string_view bytes) const {
  auto made = internal::FromBytes(state_, bytes);
  if (!made) return ToStatus(made.error());
  return ExecutableState::Wrap(std::move(*made));
}

StatusOr<Buffer> Client::ToDevice(const Literal& literal, int device) const {
  auto made = internal::NewBuffer(state_, literal, device);
  if (!made) return ToStatus(made.error());
  return std::move(*made);
}

StatusOr<std::unique_ptr<GlobalData>> Client::TransferToServer(const Literal& literal, int device) const {
  StatusOr<Buffer> made = ToDevice(literal, device);
  if (!made.ok()) return made.status();
  return std::make_unique<GlobalData>(*made);
}

StatusOr<std::unique_ptr<GlobalData>> Client::TransferToServerInProcess(const Shape& shape, const void* data,
                                                                        int device) const {
  const auto literal = internal::CheckedFromMemory(shape, data);
  if (!literal) return ToStatus(literal.error());
  return TransferToServer(*literal, device);
}

StatusOr<std::unique_ptr<Literal>> Client::Transfer(const GlobalData& data,
                                                    const Shape* shape_with_layout) const {
  StatusOr<Literal> value = data.ToLiteral();
  if (!value.ok()) return value.status();
  if (shape_with_layout != nullptr && shape_with_layout->has_layout()) {
    value = value->WithLayout(shape_with_layout->layout());
    if (!value.ok()) return value.status();
  }
  return std::make_unique<Literal>(*value);
}

Status Client::TransferInProcess(const GlobalData& data, void* destination) const {
  const StatusOr<Literal> value = data.ToLiteral();
  if (!value.ok()) return value.status();
  const hlo::Literal& literal = *LiteralAccess::Get(*value);
  const auto shape = internal::ToShape(data.shape());
  if (!shape) return ToStatus(shape.error());
  if (const hlo::Status order = internal::CheckOrder(*shape); !order) return ToStatus(order.error());
  if (literal.byte_size() == 0) return {};
  if (destination == nullptr) return {StatusCode::kInvalidArgument, "there is no memory to write to"};
  internal::ToMemory(literal, *shape, destination);
  return {};
}

StatusOr<std::vector<std::unique_ptr<GlobalData>>> Client::DeconstructTuple(const GlobalData& data) const {
  const BufferState* state = BufferState::Get(data);
  if (!state || !state->shape->IsTuple())
    return Status(StatusCode::kInvalidArgument, data.shape().ToString() + " is no tuple");
  std::vector<std::unique_ptr<GlobalData>> made;
  for (size_t i = 0; i < state->parts.size(); ++i)
    made.push_back(std::make_unique<GlobalData>(
        BufferState::Of(state->client, std::make_shared<Shape>(state->shape->tuple_shapes()[i]),
                        state->device, state->parts[i])));
  return made;
}

namespace {

hlo::Result<Execution> RunOn(const std::shared_ptr<ClientState>& client, const XlaComputation& computation,
                             Span<GlobalData* const> arguments, bool wait) {
  HLO_TRY(const auto executable, internal::Compiled(client, computation));
  std::vector<Buffer> mine;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == nullptr) return Wrong("argument {0} is null", i);
    mine.push_back(*arguments[i]);
  }
  return executable->Run(Span<const std::vector<Buffer>>(&mine, 1), {}, wait);
}

}  // namespace

StatusOr<std::unique_ptr<GlobalData>> Client::Execute(const XlaComputation& computation,
                                                      Span<GlobalData* const> arguments) const {
  const auto run = RunOn(state_, computation, arguments, /*wait=*/true);
  if (!run) return ToStatus(run.error());
  return std::make_unique<GlobalData>(run->result());
}

StatusOr<std::unique_ptr<Literal>> Client::ExecuteAndTransfer(const XlaComputation& computation,
                                                              Span<GlobalData* const> arguments) const {
  const auto data = Execute(computation, arguments);
  if (!data.ok()) return data.status();
  return Transfer(**data);
}

StatusOr<Execution> Client::ExecuteAsync(const XlaComputation& computation,
                                         Span<GlobalData* const> arguments) const {
  auto run = RunOn(state_, computation, arguments, /*wait=*/false);
  if (!run) return ToStatus(run.error());
  return std::move(*run);
}

Status Client::TransferToInfeed(const Literal& literal, int device) const {
  const hlo::Literal* value = LiteralAccess::Get(literal);
  if (!value) return {StatusCode::kInvalidArgument, "the literal has no value"};
  if (const hlo::Status status = state_->CheckDeviceHere(device); !status) return ToStatus(status.error());
  state_->boxes()->Push({Mailboxes::Kind::Infeed, device, 0, 0}, *value);
  return {};
}

StatusOr<Literal> Client::TransferFromOutfeed(const Shape* shape, int device) const {
  if (const hlo::Status status = state_->CheckDeviceHere(device); !status) return ToStatus(status.error());
  const auto fits = [&](const hlo::Shape& next) -> hlo::Status {
    if (!shape || ShapeUtil::Compatible(internal::FromShape(next), *shape)) return {};
    return Wrong("the next value of the outfeed is {0}, not {1}", next, shape->ToString());
  };
  const auto check = []() -> hlo::Status {
    if (hlo::Interrupted()) return hlo::Error(hlo::InterruptedError());
    return {};
  };
  hlo::Result<hlo::Literal> value;
  state_->client().Do(
      [&] { value = state_->boxes()->Pop({Mailboxes::Kind::Outfeed, device, 0, 0}, check, fits); });
  if (!value) return ToStatus(value.error());
  return LiteralAccess::Make(*value);
}

ChannelHandle Client::CreateChannelHandle() const {
  ChannelHandle handle;
  handle.set_handle(state_->boxes()->NewChannel());
  return handle;
}

void Client::Cancel() const { state_->client().stop().Request(hlo::InterruptCause::Signal); }
void Client::ClearCancellation() const { state_->client().stop().Clear(); }

StatusOr<Client*> ClientLibrary::GetOrCreateClient() {
  static const StatusOr<std::unique_ptr<Client>> client = Client::Create();
  if (!client.ok()) return client.status();
  return client->get();
}

Client* ClientLibrary::ClientLibraryOrDie() { return GetOrCreateClient().value(); }

}  // namespace hlo_toolkit
