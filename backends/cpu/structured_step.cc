#include "backends/cpu/structured_step.h"

#include "backends/compile/kernel_config.h"
#include "backends/cpu/routine_step.h"
#include "backends/structured/plan.h"

namespace hlo::cpu {
namespace {

/// A compiled loop looks at the interrupt flag once in a thousand rounds.
constexpr int64_t kMostInRoutine = 200000;

class StructuredRunner final : public StepRunner {
 public:
  StructuredRunner(const Step& step, Program& program, structured::Plan plan)
      : inst_(*step.instruction), plan_(std::move(plan)) {
    for (const Value& operand : step.operands)
      for (const Leaf& leaf : operand.leaves) slices_.push_back(leaf.slice);
    first_result_ = slices_.size();
    for (const Leaf& leaf : step.result.leaves) slices_.push_back(leaf.slice);
    pointers_ = program.AddPointers(slices_);
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
  size_t pointers_ = 0;                 // of `slices_`, in Program::pointers
  llvm::SmallVector<Slice, 4> slices_;  // operands, then results
  size_t first_result_ = 0;
};

std::string DynamicParts(llvm::ArrayRef<Value> operands, const Value& result) {
  const auto is_static = [](const Value& value) {
    return llvm::all_of(value.leaves,
                        [](const Leaf& leaf) { return leaf.shape.IsArray() && leaf.slice.sizes < 0; });
  };
  return llvm::all_of(operands, is_static) && is_static(result) ? "" : "dynamic dimensions";
}

/// What is wrong with where the arrays lie; empty: nothing.
std::string Obstacle(llvm::ArrayRef<Value> operands, const Value& result, int64_t in_place) {
  for (const Leaf& out : result.leaves) {
    if (!out.written) return "results that are other values";
    for (size_t i = 0; i < operands.size(); ++i)
      for (const Leaf& in : operands[i].leaves)
        if (in.slice.Overlaps(out.slice) && !(static_cast<int64_t>(i) == in_place && in.slice == out.slice))
          return "a result in the place of an operand";
  }
  return "";
}

}  // namespace

std::unique_ptr<StepRunner> LoadStructured(const Step& step, Program& program, gemm::Isa isa,
                                           std::string& why) {
  const Instruction& inst = *step.instruction;
  structured::Planner* planner = structured::PlannerFor(inst);
  if (planner == nullptr) return nullptr;
  why = compile::FoldsInOrder(inst) ? "folded in order" : DynamicParts(step.operands, step.result);
  if (!why.empty()) return nullptr;
  Result<structured::Plan> plan = planner(inst, isa);
  why = plan ? Obstacle(step.operands, step.result, plan->in_place) : plan.error().message;
  if (!plan || !why.empty()) return nullptr;
  return std::make_unique<StructuredRunner>(step, program, std::move(*plan));
}

}  // namespace hlo::cpu
