#include "backends/cpu/structured_runner.h"

#include "backends/cpu/routine_builder.h"

namespace hlo::cpu {
namespace {

/// A compiled loop looks at the interrupt flag once in a thousand rounds.
constexpr int64_t kMostInRoutine = 200000;

class StructuredRunner final : public StepRunner {
 public:
  StructuredRunner(const Step& step, PointerList& pointers, structured::Plan plan)
      : inst_(*step.instruction), plan_(std::move(plan)) {
    for (const Value& operand : step.operands)
      for (const Leaf& leaf : operand.leaves) slices_.push_back(leaf.slice);
    first_result_ = slices_.size();
    for (const Leaf& leaf : step.result.leaves) slices_.push_back(leaf.slice);
    pointers_ = pointers.AddPointers(slices_);
  }

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    HLO_CHECK_OK(frame.CheckInterrupt());
    plan_.run(frame.Pointers(pointers_));
    return frame.CheckInterrupt();
  }
  [[nodiscard]] std::string Explain() const override {
    return (plan_.uses_library ? "" : "loops of its own: ") + plan_.how;
  }
  bool AddTo(RoutineBuilder& routine) const override {
    if (plan_.operations == 0 || plan_.operations > kMostInRoutine) return false;
    const auto run = [](const void* plan, void* const* arrays) {
      static_cast<const structured::Plan*>(plan)->run(arrays);
    };
    return routine.Host({run, &plan_}, slices_, first_result_);
  }

 private:
  const Instruction& inst_;
  structured::Plan plan_;
  size_t pointers_ = 0;                 // of `slices_`, in the PointerList
  llvm::SmallVector<Slice, 4> slices_;  // operands, then results
  size_t first_result_ = 0;
};

}  // namespace

std::unique_ptr<StepRunner> MakeStructuredRunner(const Step& step, PointerList& pointers,
                                                 structured::Plan plan) {
  return std::make_unique<StructuredRunner>(step, pointers, std::move(plan));
}

}  // namespace hlo::cpu
