// Runs computations instruction by instruction on one device.
#pragma once
#include <functional>
#include <memory>

#include "ir/eval/device.h"
#include "ir/eval/eval.h"

namespace hlo {

/// What does not depend on the device: per computation the order of execution and where each value
/// is used last. Made on first use; safe to share between devices.
class ExecutionPlans {
 public:
  struct Step {
    const Instruction* inst;
    EvalFn eval;
    int32_t slot;                            // where the result goes
    llvm::SmallVector<int32_t, 4> operands;  // slots
    llvm::SmallVector<bool, 4> last_use;     // per operand: hand the value over instead of sharing it
    Literal constant;                        // constants: the value, unpacked
  };
  struct Plan {
    std::vector<Step> steps;  // parameters are not among them
    std::vector<int32_t> parameter_slots;
    std::vector<bool> parameter_used;
    int32_t slot_count = 0;
    int32_t root_slot = 0;
  };
  const Plan& Get(const Computation& computation);

 private:
  static std::unique_ptr<Plan> Make(const Computation& computation);
  std::mutex mutex_;
  llvm::DenseMap<const Computation*, std::unique_ptr<Plan>> plans_;
};

/// An EvalContext that evaluates every instruction by its rule. Values are freed at their last use
/// and handed over to that use, so that ops can work in place.
class Executor final : public EvalContext {
 public:
  using Observer = std::function<void(const Instruction&)>;
  Executor(ExecutionPlans& plans, Device& device, const Observer* observer = nullptr)
      : plans_(plans), device_(device), observer_(observer) {}

  Result<Literal> Call(const Computation& computation, std::vector<Literal> arguments) override;
  Device& device() override { return device_; }
  Status CheckInterrupt() override;

 private:
  ExecutionPlans& plans_;
  Device& device_;
  const Observer* observer_;
};

}  // namespace hlo
