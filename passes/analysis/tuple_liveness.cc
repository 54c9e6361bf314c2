#include "passes/analysis/tuple_liveness.h"

#include "ir/by_op_kind.h"
#include "passes/analysis/side_effects.h"

namespace hlo {

TupleLiveness::TupleLiveness(const Module& module) {
  MarkAll(*module.entry()->root());
  for (const auto& c : module.computations())
    for (const Instruction* inst : c->instructions()) {
      if (inst->kind() == OpKind::While) MarkAll(*inst->callee(1)->root());
      if (inst->kind() == OpKind::Conditional) MarkAll(*inst->operand(0));
      // Side effects of computations called in place stand there, as instructions.
      const bool looked_through = inst->kind() == OpKind::While || inst->kind() == OpKind::Conditional ||
                                  inst->kind() == OpKind::Call || inst->kind() == OpKind::Fusion;
      if (!looked_through && HasSideEffect(*inst)) MarkAll(*inst);
      if (inst->has_extras() && !inst->extras().control_successors.empty()) MarkAll(*inst);
    }
  while (!work_.empty()) {
    const auto [inst, leaf] = work_.back();
    work_.pop_back();
    Follow(*inst, leaf);
  }
}

TupleLiveness::Value& TupleLiveness::Get(const Instruction& inst) {
  std::unique_ptr<Value>& value = values_[&inst];
  if (value) return *value;
  value = std::make_unique<Value>();
  const Shape& shape = inst.shape();
  int64_t leaves = 0;
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) {
      value->offsets.push_back(leaves);
      leaves += element.LeafCount();
    }
    value->offsets.push_back(leaves);
  } else {
    leaves = 1;
  }
  value->live.resize(static_cast<unsigned>(leaves));
  return *value;
}

void TupleLiveness::Mark(const Instruction& inst, int64_t leaf) {
  llvm::BitVector& live = Get(inst).live;
  const auto bit = static_cast<unsigned>(leaf);
  if (bit >= live.size() || live[bit]) return;
  live.set(bit);
  work_.emplace_back(&inst, leaf);
}

void TupleLiveness::MarkAll(const Instruction& inst) {
  const auto leaves = static_cast<int64_t>(Get(inst).live.size());
  for (int64_t leaf = 0; leaf < leaves; ++leaf) Mark(inst, leaf);
  // A value without leaves still needs what it is made of.
  if (leaves > 0) return;
  for (const Instruction* operand : inst.operands()) {
    const auto count = static_cast<int64_t>(Get(*operand).live.size());
    for (int64_t leaf = 0; leaf < count; ++leaf) Mark(*operand, leaf);
  }
}

void TupleLiveness::FollowParameter(const Instruction& parameter, int64_t leaf) {
  const int64_t number = parameter.attr<ParameterAttrs>().number;
  for (const Instruction* caller : parameter.parent()->callers()) {
    switch (caller->kind()) {
      case OpKind::While:
        Mark(*caller->operand(0), leaf);
        Mark(*caller->callee(0)->root(), leaf);
        break;
      case OpKind::Call:
      case OpKind::Fusion: Mark(*caller->operand(number), leaf); break;
      case OpKind::Conditional:
        for (size_t b = 0; b < caller->callees().size(); ++b)
          if (caller->callees()[b] == parameter.parent())
            Mark(*caller->operand(static_cast<int64_t>(b) + 1), leaf);
        break;
      default:
        for (const Instruction* operand : caller->operands()) MarkAll(*operand);
    }
  }
}

void TupleLiveness::FollowTuple(const Instruction& inst, int64_t leaf) {
  const auto& offsets = Get(inst).offsets;
  const auto after = static_cast<size_t>(llvm::upper_bound(offsets, leaf) - offsets.begin());
  Mark(*inst.operand(static_cast<int64_t>(after) - 1), leaf - offsets[after - 1]);
}

void TupleLiveness::FollowGetTupleElement(const Instruction& inst, int64_t leaf) {
  const auto index = static_cast<size_t>(inst.attr<GetTupleElementAttrs>().index);
  Mark(*inst.operand(0), Get(*inst.operand(0)).offsets[index] + leaf);
}

void TupleLiveness::FollowWhile(const Instruction& inst, int64_t leaf) {
  Mark(*inst.operand(0), leaf);
  Mark(*inst.callee(0)->root(), leaf);
}

void TupleLiveness::FollowCall(const Instruction& inst, int64_t leaf) {
  for (const Computation* callee : inst.callees()) Mark(*callee->root(), leaf);
}

void TupleLiveness::FollowOperand(const Instruction& inst, int64_t leaf) { Mark(*inst.operand(0), leaf); }

void TupleLiveness::FollowAll(const Instruction& inst, int64_t) {
  for (const Instruction* operand : inst.operands()) MarkAll(*operand);
  // Computations that wrap more than scalars (async) are needed whole.
  for (const Computation* callee : inst.callees()) MarkAll(*callee->root());
}

void TupleLiveness::Follow(const Instruction& inst, int64_t leaf) {
  using Step = void (TupleLiveness::*)(const Instruction&, int64_t);
  static constexpr ByOpKind<Step> kSteps(
      {
          {OpKind::Parameter, &TupleLiveness::FollowParameter},
          {OpKind::Tuple, &TupleLiveness::FollowTuple},
          {OpKind::GetTupleElement, &TupleLiveness::FollowGetTupleElement},
          {OpKind::While, &TupleLiveness::FollowWhile},
          {OpKind::Call, &TupleLiveness::FollowCall},
          {OpKind::Fusion, &TupleLiveness::FollowCall},
          {OpKind::Conditional, &TupleLiveness::FollowCall},
          {OpKind::OptimizationBarrier, &TupleLiveness::FollowOperand},
          {OpKind::Copy, &TupleLiveness::FollowOperand},
          {OpKind::Domain, &TupleLiveness::FollowOperand},
      },
      &TupleLiveness::FollowAll);
  (this->*kSteps[inst.kind()])(inst, leaf);
}

bool TupleLiveness::IsElementLive(const Instruction& tuple, int64_t i) const {
  const auto value = values_.find(&tuple);
  if (value == values_.end()) return false;
  const auto& offsets = value->second->offsets;
  for (int64_t leaf = offsets[static_cast<size_t>(i)]; leaf < offsets[static_cast<size_t>(i) + 1]; ++leaf)
    if (value->second->live[static_cast<unsigned>(leaf)]) return true;
  return false;
}

}  // namespace hlo
