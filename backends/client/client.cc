#include "backends/client/client.h"

#include "backends/client/client_state.h"
#include "backends/run_devices.h"

namespace hlo {

Client::Client(Platform platform, ClientOptions options)
    : state_(std::make_shared<ClientState>(platform, std::move(options))) {}

Platform Client::platform() const { return state_->platform(); }

StopToken& Client::stop() const { return state_->stop(); }

ExecutionOptions Client::NewExecution() const {
  ExecutionOptions execution;
  execution.rng_seed = state_->options().seed;
  return execution;
}

Result<std::unique_ptr<ClientProgram>> Client::Compile(const Module& module, const CompileOptions& options,
                                                       const ExecutionOptions& execution) const {
  const ClientWork work(*state_, execution.stop);
  if (options.support == SupportCheck::BeforePasses) HLO_CHECK_OK(CheckSupported(module, execution));
  CompileOptions mine = options;
  mine.store.on_disk &= state_->options().cache;
  if (mine.store.folder.empty()) mine.store.folder = state_->options().cache_folder;
  HLO_TRY(auto program, Info(platform()).compile(module, mine));
  if (options.support == SupportCheck::AfterPasses)
    HLO_CHECK_OK(CheckSupported(program->module(), execution));
  return std::make_unique<ClientProgram>(state_, std::move(program));
}

Result<ExecutionResult> Client::Run(const Module& module, std::vector<std::vector<Literal>> arguments,
                                    const ExecutionOptions& execution) const {
  CompileOptions options;
  options.cpu.executions = 1;
  HLO_TRY(const auto program, Compile(module, options, execution));
  return program->Run(std::move(arguments), execution);
}

std::shared_ptr<const ClientActivity> Client::activity() const { return state_->activity(); }

void Client::Do(llvm::function_ref<void()> work) const {
  const ClientWork mine(*state_, nullptr);
  work();
}

DeviceBuffer Client::Transfer(DeviceValue value) {
  auto pending = std::make_shared<Pending<DeviceValue>>();
  const Shape shape = value.shape();
  pending->Set(std::move(value));
  return {shape, std::move(pending)};
}

}  // namespace hlo
