#include "ir/eval/executor.h"

#include <cassert>

#include "ir/support/interrupt.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {
namespace {

/// Execution order: the schedule or post-order, with each get-tuple-element right after its operand,
/// so that tuples die early and their elements can be updated in place.
std::vector<const Instruction*> ExecutionOrder(const Computation& computation) {
  const std::vector<Instruction*> given =
      computation.has_schedule() ? computation.schedule() : computation.PostOrder();
  std::vector<const Instruction*> order;
  order.reserve(given.size());
  llvm::DenseSet<const Instruction*> placed;
  std::vector<const Instruction*> pending;
  for (const Instruction* inst : given) {
    pending.push_back(inst);
    while (!pending.empty()) {
      const Instruction* next = pending.back();
      pending.pop_back();
      if (!placed.insert(next).second) continue;
      order.push_back(next);
      for (const Instruction* user : llvm::reverse(next->users()))
        if (user->kind() == OpKind::GetTupleElement) pending.push_back(user);
    }
  }
  return order;
}

}  // namespace

std::unique_ptr<ExecutionPlans::Plan> ExecutionPlans::Make(const Computation& computation) {
  auto plan = std::make_unique<Plan>();
  llvm::DenseMap<const Instruction*, int32_t> slots;
  const auto order = ExecutionOrder(computation);
  for (const Instruction* inst : order) slots[inst] = plan->slot_count++;
  plan->root_slot = slots[computation.root()];
  // Backwards: the first use met is the last one executed.
  std::vector<bool> used(static_cast<size_t>(plan->slot_count), false);
  used[static_cast<size_t>(plan->root_slot)] = true;
  for (const Instruction* inst : llvm::reverse(order)) {
    if (inst->kind() == OpKind::Parameter) continue;
    Step step{inst, EvalRule(inst->kind()), slots[inst], {}, {}, {}};
    if (inst->kind() == OpKind::Constant)
      step.constant = inst->attr<ConstantAttrs>().literal->Unpack().WithShape(inst->shape());
    for (const Instruction* operand : inst->operands()) step.operands.push_back(slots[operand]);
    step.last_use.resize(step.operands.size());
    for (size_t i = step.operands.size(); i-- > 0;) {
      auto seen = used[static_cast<size_t>(step.operands[i])];
      step.last_use[i] = !seen;
      seen = true;
    }
    plan->steps.push_back(std::move(step));
  }
  std::reverse(plan->steps.begin(), plan->steps.end());
  for (const Instruction* p : computation.parameters()) {
    plan->parameter_slots.push_back(slots[p]);
    plan->parameter_used.push_back(used[static_cast<size_t>(slots[p])]);
  }
  return plan;
}

const ExecutionPlans::Plan& ExecutionPlans::Get(const Computation& computation) {
  const std::lock_guard lock(mutex_);
  auto& plan = plans_[&computation];
  if (!plan) plan = Make(computation);
  return *plan;
}

Status Executor::CheckInterrupt() {
  if (Interrupted()) return Error(InterruptedError());
  if (device_.group().failed()) return Error(device_.group().failure());
  return {};
}

Result<Literal> Executor::Call(const Computation& computation, std::vector<Literal> arguments) {
  const ExecutionPlans::Plan& plan = plans_.Get(computation);
  assert(arguments.size() == plan.parameter_slots.size());
  std::vector<Literal> values(static_cast<size_t>(plan.slot_count));
  for (size_t i = 0; i < arguments.size(); ++i)
    if (plan.parameter_used[i])
      values[static_cast<size_t>(plan.parameter_slots[i])] = std::move(arguments[i]);
  arguments.clear();
  llvm::SmallVector<Literal, 4> operands;
  for (const ExecutionPlans::Step& step : plan.steps) {
    if (observer_) (*observer_)(*step.inst);
    HLO_CHECK_OK(CheckInterrupt());
    Literal& result = values[static_cast<size_t>(step.slot)];
    if (step.constant.valid()) {
      result = step.constant;
      continue;
    }
    if (step.inst->kind() == OpKind::GetTupleElement && !step.last_use[0]) {
      // Sharing the whole tuple for one element would make a loop over its elements quadratic.
      result = values[static_cast<size_t>(step.operands[0])].element(
          step.inst->attr<GetTupleElementAttrs>().index);
      continue;
    }
    operands.clear();
    for (size_t i = 0; i < step.operands.size(); ++i) {
      Literal& value = values[static_cast<size_t>(step.operands[i])];
      // The same value may stand twice among the operands; only its last mention takes it.
      operands.push_back(step.last_use[i] ? std::move(value) : value);
    }
    const bool listened = listener_ != nullptr && listener_->Begin(*step.inst);
    Result<Literal> evaluated = step.eval(*this, *step.inst, operands);
    if (!evaluated) {
      Diagnostic error = std::move(evaluated).error();
      if (!error.loc.valid()) error.loc = step.inst->loc();
      return Error(std::move(error));
    }
    if (listened) HLO_CHECK_OK(listener_->End(*step.inst));
    result = std::move(*evaluated);
  }
  return std::move(values[static_cast<size_t>(plan.root_slot)]);
}

}  // namespace hlo
