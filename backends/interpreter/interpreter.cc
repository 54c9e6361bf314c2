#include "backends/interpreter/interpreter.h"

#include "backends/profile.h"
#include "backends/run_devices.h"
#include "ir/eval/executor.h"

namespace hlo {
namespace {

class Interpreter final : public Executable {
 public:
  explicit Interpreter(const Module& module) : module_(module) {}
  Result<ExecutionResult> Run(std::vector<std::vector<Literal>> arguments,
                              const ExecutionOptions& options) const override {
    ExecutionPlans plans;
    return RunOnDevices(std::move(arguments), options, [&](Device& device, std::vector<Literal> mine) {
      std::optional<Profile::Recorder> recorder;
      if (options.profile != nullptr) recorder.emplace(*options.profile);
      Executor executor(plans, device, options.on_instruction ? &options.on_instruction : nullptr,
                        recorder ? &*recorder : nullptr);
      return executor.Call(*module_.entry(), std::move(mine));
    });
  }
  [[nodiscard]] const Module& module() const override { return module_; }

 private:
  const Module& module_;
};

}  // namespace

std::unique_ptr<Executable> MakeInterpreter(const Module& module) {
  return std::make_unique<Interpreter>(module);
}

Result<ExecutionResult> RunModule(const Module& module, std::vector<std::vector<Literal>> arguments,
                                  const ExecutionOptions& options) {
  HLO_CHECK_OK(CheckSupported(module, options));
  return Interpreter(module).Run(std::move(arguments), options);
}

}  // namespace hlo
