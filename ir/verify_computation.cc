// Rules about one computation: root, parameters, order.
#include "ir/verify_internal.h"

namespace hlo::verify {
namespace {

void VerifyParameters(const Computation& computation, Report& report) {
  for (size_t i = 0; i < computation.parameters().size(); ++i) {
    const Instruction* p = computation.parameters()[i];
    if (!p)
      report.Error("verify-structure", computation,
                   "computation {0} has parameters up to {1}, but none with number {2}", Name(computation),
                   computation.parameters().size() - 1, i);
    else if (p->attr<ParameterAttrs>().number != static_cast<int64_t>(i) || p->parent() != &computation)
      report.Error("verify-structure", *p, "{0} is parameter {1}, but stands as number {2} of {3}", Name(*p),
                   p->attr<ParameterAttrs>().number, i, Name(computation));
  }
}

}  // namespace

void VerifyComputation(const Computation& computation, Report& report) {
  VerifyParameters(computation, report);
  const Instruction* root = computation.root();
  if (!root || root->parent() != &computation)
    report.Error("verify-structure", computation, "computation {0} has no root of its own",
                 Name(computation));
}

void VerifyAcyclic(const Computation& computation, Report& report) {
  // Numbers are a cache, so writing them is no change.
  const_cast<Computation&>(computation).NumberInstructions();
  // Mostly the numbers were stale, and the order is one in which nothing depends on what comes later.
  const auto in_order = [](const Instruction* inst) {
    const auto before = [&](const Instruction* other) { return other->number() < inst->number(); };
    return llvm::all_of(inst->operands(), before) &&
           llvm::all_of(inst->extras().control_predecessors, before);
  };
  if (llvm::all_of(computation.instructions(), in_order)) return;
  enum State : uint8_t { Unseen, Open, Done };
  std::vector<State> state(static_cast<size_t>(computation.instruction_count()), Unseen);
  struct Entry {
    const Instruction* inst;
    size_t next = 0;
  };
  auto edge = [](const Instruction* inst, size_t i) -> const Instruction* {
    if (i < inst->operands().size()) return inst->operands()[i];
    i -= inst->operands().size();
    const auto& control = inst->extras().control_predecessors;
    return i < control.size() ? control[i] : nullptr;
  };
  std::vector<Entry> stack;
  for (const Instruction* start : computation.instructions()) {
    if (state[static_cast<size_t>(start->number())] != Unseen) continue;
    state[static_cast<size_t>(start->number())] = Open;
    stack.push_back({start});
    while (!stack.empty()) {
      Entry& top = stack.back();
      const Instruction* to = edge(top.inst, top.next++);
      if (!to) {
        state[static_cast<size_t>(top.inst->number())] = Done;
        stack.pop_back();
        continue;
      }
      if (to->parent() != &computation) continue;
      State& s = state[static_cast<size_t>(to->number())];
      if (s == Open) {
        report.Error("verify-structure", *top.inst, "{0} depends on itself through {1}", Name(*top.inst),
                     Name(*to));
        return;
      }
      if (s == Unseen) {
        s = Open;
        stack.push_back({to});
      }
    }
  }
}

}  // namespace hlo::verify
