#include "passes/rewrite/loop_unroll.h"

#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {

llvm::SmallVector<Instruction*, 8> InitialState(const TupleLoop& loop) {
  llvm::SmallVector<Instruction*, 8> state;
  Maker make(loop.loop);
  for (int64_t i = 0; i < loop.size(); ++i)
    state.push_back(loop.InitElement(i) ? loop.InitElement(i) : make.Gte(loop.init(), i));
  return state;
}

llvm::SmallVector<Instruction*, 8> CopyIteration(const TupleLoop& loop, Computation& to,
                                                 llvm::ArrayRef<Instruction*> state, int64_t induction,
                                                 std::optional<int64_t> value) {
  Maker make(to, loop.loop);
  llvm::SmallVector<Instruction*, 8> before(state.begin(), state.end());
  if (value)
    before[static_cast<size_t>(induction)] =
        make.ScalarInt(state[static_cast<size_t>(induction)]->shape().element_type(), *value);
  llvm::DenseMap<const Instruction*, Instruction*> copies;
  const std::vector<Instruction*> order = loop.body->PostOrder();
  for (const Instruction* inst : order) {
    if (inst == loop.body_parameter) {
      const bool whole = llvm::any_of(
          inst->users(), [](const Instruction* u) { return u->kind() != OpKind::GetTupleElement; });
      if (whole) copies[inst] = make.Tuple(before);
      continue;
    }
    if (inst == loop.body_root && inst->users().empty()) continue;
    if (inst->kind() == OpKind::GetTupleElement && inst->operand(0) == loop.body_parameter) {
      copies[inst] = before[static_cast<size_t>(inst->attr<GetTupleElementAttrs>().index)];
      continue;
    }
    llvm::SmallVector<Instruction*, 4> operands;
    for (const Instruction* o : inst->operands()) operands.push_back(copies.lookup(o));
    Instruction* copy = CloneWith(*inst, to, operands);
    copies[inst] = copy;
    for (const Instruction* p : inst->extras().control_predecessors)
      if (Instruction* first = copies.lookup(p)) copy->AddControlPredecessor(first);
  }
  llvm::SmallVector<Instruction*, 8> after;
  for (const Instruction* result : loop.body_root->operands()) after.push_back(copies.lookup(result));
  return after;
}

void UnrollLoop(const TupleLoop& loop, const LoopCount& counted) {
  Instruction *inst = loop.loop, *init = loop.init();
  Computation& parent = *inst->parent();
  auto state = InitialState(loop);
  for (int64_t i = 0; i < counted.count; ++i)
    state = CopyIteration(loop, parent, state, counted.induction, *counted.init + i * *counted.step);
  const llvm::SmallVector<Instruction*, 8> users(inst->users().begin(), inst->users().end());
  for (Instruction* user : users)
    if (user->kind() == OpKind::GetTupleElement && !HasControlEdges(*user)) {
      ReplaceWith(user, state[static_cast<size_t>(user->attr<GetTupleElementAttrs>().index)]);
      parent.Remove(user);
    }
  if (!inst->users().empty() || inst->IsRoot()) ReplaceWith(inst, Maker(inst).Tuple(state));
  parent.Remove(inst);
  if (IsDead(*init)) parent.Remove(init);
}

void PeelIterations(const TupleLoop& loop, const LoopCount& counted, int64_t count) {
  Computation& outer = *loop.loop->parent();
  const auto at = static_cast<size_t>(counted.induction);
  auto state = InitialState(loop);
  for (int64_t i = 0; i < count; ++i)
    state = CopyIteration(loop, outer, state, counted.induction, *counted.init + i * *counted.step);
  Maker make(loop.loop);
  state[at] = make.ScalarInt(state[at]->shape().element_type(), *counted.init + count * *counted.step);
  loop.loop->SetOperand(0, make.Tuple(state));
}

void MultiplyBody(const TupleLoop& loop, const LoopCount& counted, int64_t factor, llvm::StringRef suffix,
                  bool in_one_step) {
  Computation* body = NewComputation(*loop.loop->module(), (loop.body->name() + suffix).str());
  body->set_execution_thread(loop.body->execution_thread());
  Maker make(*body, loop.loop);
  Instruction* parameter = make.Parameter(0, loop.loop->shape());
  llvm::SmallVector<Instruction*, 8> state;
  for (int64_t i = 0; i < loop.size(); ++i) state.push_back(make.Gte(parameter, i));
  Instruction* induction = state[static_cast<size_t>(counted.induction)];
  for (int64_t i = 0; i < factor; ++i) state = CopyIteration(loop, *body, state);
  if (in_one_step) {
    Instruction* step = make.ScalarInt(induction->shape().element_type(), factor * *counted.step);
    state[static_cast<size_t>(counted.induction)] = make.Binary(OpKind::Add, induction, step);
  }
  body->set_root(make.Tuple(state));
  loop.loop->SetCallees({body, loop.condition});
}

}  // namespace hlo
