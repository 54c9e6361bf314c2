#include "passes/analysis/ordering.h"

#include <cassert>

namespace hlo {

Schedule ScheduleOf(const Module& module) {
  Schedule schedule;
  for (const auto& computation : module.computations())
    if (computation->has_schedule()) schedule[computation.get()] = computation->schedule();
  return schedule;
}

Timeline::Timeline(const Dataflow& flow, const Schedule& schedule) {
  struct Frame {
    const Computation* computation;
    std::vector<Instruction*> order;
    size_t next = 0;                    // instruction
    std::vector<Computation*> callees;  // of the current one, in the order of running
    size_t callee = 0;
  };
  std::vector<Frame> stack;
  const auto tick = [&](const Instruction* inst) {
    at_.push_back(inst);
    return static_cast<int64_t>(at_.size()) - 1;
  };
  const auto enter = [&](const Computation* computation) {
    if (computations_.contains(computation)) return;
    const auto it = schedule.find(computation);
    computations_[computation].first = tick(computation->root());
    stack.push_back({computation, it != schedule.end() ? it->second : computation->PostOrder(), 0, {}, 0});
  };
  if (!flow.module().entry()) return;
  enter(flow.module().entry());
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.callee < top.callees.size()) {
      enter(top.callees[top.callee++]);
      continue;
    }
    if (!top.callees.empty()) {
      const Instruction* caller = top.order[top.next++];
      instructions_[caller].second = tick(caller);
      top.callees.clear();
      top.callee = 0;
      continue;
    }
    if (top.next == top.order.size()) {
      computations_[top.computation].second = tick(top.computation->root());
      stack.pop_back();
      continue;
    }
    const Instruction* inst = top.order[top.next];
    const int64_t time = tick(inst);
    instructions_[inst] = {time, time};
    if (IsControlFlow(inst->kind()) && !inst->callees().empty()) {
      top.callees.assign(inst->callees().begin(), inst->callees().end());
      // A loop's condition runs first, and stands second.
      if (inst->kind() == OpKind::While) std::reverse(top.callees.begin(), top.callees.end());
    } else {
      ++top.next;
    }
  }
}

int64_t Timeline::Definition(const Dataflow& flow, Place value) const {
  const Instruction& inst = flow.instruction(value);
  return inst.kind() == OpKind::Parameter ? Begin(*inst.parent()) : End(inst);
}

bool ReadsUntilEnd(const Use& use) {
  return use.user != nullptr && use.user->kind() == OpKind::Call && use.operand >= 0 &&
         use.user->attr<CallAttrs>().is_composite;
}

int64_t Timeline::Time(const Use& use) const {
  if (use.user == nullptr) return End(*use.scope);
  return ReadsUntilEnd(use) ? End(*use.user) : Begin(*use.user);
}

const Reachability& Ordering::Reach(const Computation& computation) const {
  auto& entry = reachability_[&computation];
  if (!entry) entry = std::make_unique<Reachability>(computation);
  return *entry;
}

bool Ordering::InstructionBefore(const Instruction& a, const Instruction& b) const {
  return &a != &b && Reach(*a.parent()).Reaches(a, b);
}

/// Whether the definition of `value` may be written over what the use reads, at the same instruction.
bool Ordering::SharesAt(const Use& use, Place value) const {
  const Instruction& writer = flow_.instruction(value);
  if (use.user != &writer || use.operand < 0 || use.part < 0) return false;
  const bool copies = writer.kind() == OpKind::Copy;
  if (copies && writer.operand(0)->shape() != writer.shape()) return false;
  const ShapeIndex output = flow_.IndexOf(value);
  const ShapeIndex part = flow_.IndexOfPart(flow_.Of(*writer.operand(use.operand)), use.part);
  // A copy onto itself is none, but right; parts of tuples are copied one after the other.
  if (copies) return part == output;
  for (const OutputOperandAlias& pair : sharing_.InPlace(writer))
    if (pair.operand == use.operand && pair.operand_index == part && pair.output == output) return true;
  return sharing_.MayShare(writer, use.operand, part, output);
}

Ordering::Moment Ordering::DefinitionMoment(Place value) const {
  const Instruction& inst = flow_.instruction(value);
  if (inst.kind() == OpKind::Parameter) return {inst.parent(), nullptr, true};
  return {inst.parent(), &inst, false};
}

bool Ordering::MomentBefore(Moment a, Moment b) const {
  const CallGraph& calls = flow_.calls();
  // Both are lifted to the computation that contains both; `inside` is where they came from.
  const Computation *a_inside = nullptr, *b_inside = nullptr;
  int64_t a_callee = 0, b_callee = 0;
  const auto lift = [&](Moment& m, const Computation*& inside, int64_t& callee, bool last) {
    const CallSite* site = calls.OnlySite(*m.computation);
    if (!site) return false;
    inside = m.computation;
    callee = site->callee;
    const Instruction* at = site->caller;
    // An asynchronous computation runs on until its done.
    if (last && at->kind() == OpKind::AsyncStart)
      if (const Instruction* done = Dataflow::DoneOf(*at)) at = done;
    m = {site->caller->parent(), at, false};
    return true;
  };
  while (a.computation != b.computation) {
    const bool a_deeper = calls.Of(*a.computation).depth >= calls.Of(*b.computation).depth;
    if (a_deeper ? !lift(a, a_inside, a_callee, true) : !lift(b, b_inside, b_callee, false)) return false;
  }
  if (!a.instruction) return a.begin && b.instruction != nullptr;
  if (!b.instruction) return !b.begin;
  if (a.instruction != b.instruction) return InstructionBefore(*a.instruction, *b.instruction);
  if (a_inside && b_inside) {
    if (a.instruction->kind() == OpKind::While) return a_callee == 1 && b_callee == 0;
    return a.instruction->kind() == OpKind::Conditional && a_callee < b_callee;
  }
  if (a_inside) return !b.begin;  // the caller's result comes after all that runs inside
  return a.begin && (b_inside != nullptr || !b.begin);
}

bool Ordering::UseBeforeDefinition(const Use& use, Place value) const {
  if (kind_ == Kind::Sequential) {
    const int64_t read = timeline_.Time(use), written = timeline_.Definition(flow_, value);
    return read < written || (read == written && SharesAt(use, value));
  }
  if (use.user == &flow_.instruction(value) && !IsControlFlow(use.user->kind())) return SharesAt(use, value);
  if (use.user)
    return MomentBefore({use.user->parent(), use.user, !ReadsUntilEnd(use)}, DefinitionMoment(value));
  return MomentBefore({use.scope, nullptr, false}, DefinitionMoment(value));
}

bool Ordering::DefinitionBeforeDefinition(Place a, Place b) const {
  if (&flow_.instruction(a) == &flow_.instruction(b)) return false;
  if (kind_ == Kind::Sequential) return timeline_.Definition(flow_, a) < timeline_.Definition(flow_, b);
  return MomentBefore(DefinitionMoment(a), DefinitionMoment(b));
}

bool Ordering::Before(Place a, Place b) const {
  return DefinitionBeforeDefinition(a, b) &&
         llvm::all_of(flow_.Uses(a), [&](const Use& use) { return UseBeforeDefinition(use, b); });
}

}  // namespace hlo
