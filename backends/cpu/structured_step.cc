#include "backends/cpu/structured_step.h"

#include "backends/compile/kernel_config.h"
#include "backends/cpu/structured_runner.h"

namespace hlo::cpu {
namespace {

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

std::unique_ptr<StepRunner> LoadStructured(const Step& step, PointerList& pointers, gemm::Isa isa,
                                           std::string& why) {
  const Instruction& inst = *step.instruction;
  structured::Planner* planner = structured::PlannerFor(inst);
  if (planner == nullptr) return nullptr;
  why = compile::FoldsInOrder(inst) ? "folded in order" : DynamicParts(step.operands, step.result);
  if (!why.empty()) return nullptr;
  Result<structured::Plan> plan = planner(inst, isa);
  why = plan ? Obstacle(step.operands, step.result, plan->in_place) : plan.error().message;
  if (!plan || !why.empty()) return nullptr;
  return MakeStructuredRunner(step, pointers, std::move(*plan));
}

}  // namespace hlo::cpu
