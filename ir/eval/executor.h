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

/// Is told about the instructions that one device runs, in pairs that may nest: those of loop bodies,
/// branches and called computations within their caller.
class InstructionListener {
 public:
  virtual ~InstructionListener() = default;
  /// False: it does not want to know the end of this one. From within computations that ops apply to elements
  /// it may be called on several threads at once.
  virtual bool Begin(const Instruction& inst) = 0;
  /// An error ends the run.
  virtual Status End(const Instruction& inst) = 0;
};

/// An EvalContext that evaluates every instruction by its rule. Values are freed at their last use
/// and handed over to that use, so that ops can work in place.
class Executor final : public EvalContext {
 public:
  using Observer = std::function<void(const Instruction&)>;
  Executor(ExecutionPlans& plans, Device& device, const Observer* observer = nullptr,
           InstructionListener* listener = nullptr)
      : plans_(plans), device_(device), observer_(observer), listener_(listener) {}

  Result<Literal> Call(const Computation& computation, std::vector<Literal> arguments) override;
  Device& device() override { return device_; }
  Status CheckInterrupt() override;

 private:
  ExecutionPlans& plans_;
  Device& device_;
  const Observer* observer_;
  InstructionListener* listener_;
};

}  // namespace hlo
