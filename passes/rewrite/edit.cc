#include "passes/rewrite/edit.h"

#include <queue>

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"

namespace hlo {
namespace {

/// Copies all instructions but those `mapped` already; operands, control edges and root through the map.
class BodyCopier {
 public:
  explicit BodyCopier(Computation& to) : to_(to) {}
  llvm::DenseMap<const Instruction*, Instruction*> copies;

  void Copy(const Computation& from) {
    for (const Instruction* inst : from.PostOrder()) {
      Instruction*& copy = copies[inst];
      if (copy) continue;
      llvm::SmallVector<Instruction*, 4> operands;
      for (Instruction* o : inst->operands()) operands.push_back(copies.lookup(o));
      copies[inst] = CloneInstruction(*inst, to_, operands, inst->callees(),
                                      to_.module()->UniqueInstructionName(inst->name()));
    }
    for (const Instruction* inst : from.instructions())
      for (const Instruction* p : inst->extras().control_predecessors) {
        Instruction* before = copies.lookup(p);
        Instruction* after = copies.lookup(inst);
        if (before->parent() == &to_ && after->parent() == &to_) after->AddControlPredecessor(before);
      }
  }

 private:
  Computation& to_;
};

/// Reads it or waits for it, through others too.
bool DependsOn(const Instruction& inst, const Instruction& on) {
  llvm::SmallVector<const Instruction*, 16> stack = {&inst};
  llvm::DenseSet<const Instruction*> seen = {&inst};
  while (!stack.empty()) {
    const Instruction* at = stack.pop_back_val();
    if (at == &on) return true;
    for (const Instruction* o : at->operands())
      if (seen.insert(o).second) stack.push_back(o);
    for (const Instruction* p : at->extras().control_predecessors)
      if (seen.insert(p).second) stack.push_back(p);
  }
  return false;
}

}  // namespace

bool LayoutIsObserved(const Instruction& inst) {
  return llvm::any_of(inst.users(), [](const Instruction* user) { return user->kind() == OpKind::Bitcast; });
}

void MoveControlEdges(Instruction& from, Instruction& to) {
  if (!from.has_extras()) return;
  const std::vector<Instruction*> before = from.extras().control_predecessors;
  const std::vector<Instruction*> after = from.extras().control_successors;
  if (before.empty() && after.empty()) return;
  from.DropControlEdges();
  // Nothing depends on what was just made.
  const bool was_there = !to.users().empty() || !to.extras().control_successors.empty();
  for (Instruction* p : before) {
    if (p == &to) continue;
    if (!was_there || !DependsOn(*p, to)) {
      to.AddControlPredecessor(p);
      continue;
    }
    for (Instruction* s : after)
      if (s != &to) s->AddControlPredecessor(p);
  }
  for (Instruction* s : after)
    if (s != &to && !(was_there && DependsOn(to, *s))) s->AddControlPredecessor(&to);
}

void ReplaceWith(Instruction* old, Instruction* by) {
  MoveControlEdges(*old, *by);
  if (old->has_extras()) {
    const InstructionExtras& extras = old->extras();
    if (extras.sharding && !by->extras().sharding) by->MutableExtras().sharding = extras.sharding;
    if (!extras.frontend_attributes.empty() && by->extras().frontend_attributes.empty() &&
        by->kind() != OpKind::Parameter)
      by->MutableExtras().frontend_attributes = extras.frontend_attributes;
  }
  old->ReplaceAllUsesWith(by);
}

void RemoveIfDead(Instruction* inst, llvm::function_ref<void(Instruction*)> on_remove) {
  llvm::SmallVector<Instruction*, 8> stack = {inst};
  llvm::SmallDenseSet<Instruction*, 8> gone;
  while (!stack.empty()) {
    Instruction* at = stack.pop_back_val();
    if (gone.contains(at) || !IsDead(*at)) continue;
    for (Instruction* operand : at->operands()) stack.push_back(operand);
    if (on_remove) on_remove(at);
    gone.insert(at);
    at->parent()->Remove(at);
  }
}

void ReplaceAndRemove(Instruction* old, Instruction* by) {
  ReplaceWith(old, by);
  RemoveIfDead(old);
}

Computation* CloneComputation(const Computation& from, llvm::StringRef name) {
  Module& module = *from.module();
  Computation* copy =
      module.AddComputation(module.UniqueComputationName(module.Save(name.empty() ? from.name() : name)));
  copy->set_execution_thread(from.execution_thread());
  copy->set_loc(from.loc());
  BodyCopier body(*copy);
  body.Copy(from);
  copy->set_root(body.copies.lookup(from.root()));
  std::vector<Instruction*> schedule;
  for (const Instruction* i : from.schedule()) schedule.push_back(body.copies.lookup(i));
  copy->set_schedule(std::move(schedule));
  return copy;
}

Instruction* CloneWith(const Instruction& from, Computation& to, llvm::ArrayRef<Instruction*> operands) {
  return CloneInstruction(from, to, operands, from.callees(),
                          to.module()->UniqueInstructionName(from.name()));
}

Instruction* InlineBody(Instruction* at, const Computation& body, llvm::ArrayRef<Instruction*> arguments,
                        llvm::function_ref<void(const Instruction*, Instruction*)> on_copy) {
  BodyCopier copier(*at->parent());
  for (size_t i = 0; i < arguments.size(); ++i)
    copier.copies[body.parameter(static_cast<int64_t>(i))] = arguments[i];
  copier.Copy(body);
  if (on_copy)
    for (const Instruction* inst : body.instructions())
      if (inst->kind() != OpKind::Parameter) on_copy(inst, copier.copies.lookup(inst));
  return copier.copies.lookup(body.root());
}

Instruction* InlineCall(Instruction* call,
                        llvm::function_ref<void(const Instruction*, Instruction*)> on_copy) {
  llvm::SmallVector<Instruction*, 8> arguments(call->operands().begin(), call->operands().end());
  // Control edges of the call hold for everything in its body.
  const std::vector<Instruction*> before = call->extras().control_predecessors;
  const std::vector<Instruction*> after = call->extras().control_successors;
  Instruction* root =
      InlineBody(call, *call->callee(), arguments, [&](const Instruction* inner, Instruction* copy) {
        for (Instruction* p : before) copy->AddControlPredecessor(p);
        for (Instruction* s : after) s->AddControlPredecessor(copy);
        if (on_copy) on_copy(inner, copy);
      });
  call->DropControlEdges();
  // A body without instructions of its own still orders what stood before and after the call.
  if (call->callee()->instruction_count() == static_cast<int64_t>(arguments.size()))
    for (Instruction* s : after)
      for (Instruction* p : before) s->AddControlPredecessor(p);
  call->ReplaceAllUsesWith(root);
  call->parent()->Remove(call);
  return root;
}

int64_t RemoveUnreachableComputations(Module& module) {
  llvm::DenseSet<const Computation*> reached;
  llvm::SmallVector<Computation*, 16> stack = {module.entry()};
  reached.insert(module.entry());
  while (!stack.empty()) {
    Computation* at = stack.pop_back_val();
    if (!at->has_calls()) continue;
    for (const Instruction* inst : at->instructions())
      for (Computation* callee : inst->callees())
        if (reached.insert(callee).second) stack.push_back(callee);
  }
  llvm::SmallVector<Computation*, 16> dead;
  for (const auto& c : module.computations())
    if (!reached.contains(c.get())) dead.push_back(c.get());
  module.RemoveComputations(dead);
  return static_cast<int64_t>(dead.size());
}

std::vector<Instruction*> RepairedSchedule(const Computation& computation,
                                           llvm::ArrayRef<const Instruction*> before) {
  llvm::DenseMap<const Instruction*, int64_t> place;
  for (size_t i = 0; i < before.size(); ++i) place[before[i]] = static_cast<int64_t>(i);
  const std::vector<Instruction*> order = computation.PostOrder();
  // A new instruction is wanted right before the first of its users.
  constexpr int64_t kLast = INT64_MAX;
  llvm::DenseMap<const Instruction*, int64_t> wanted;
  for (const Instruction* inst : llvm::reverse(order)) {
    int64_t at = kLast;
    if (const auto known = place.find(inst); known != place.end()) {
      at = known->second;
    } else {
      for (const Instruction* user : inst->users()) at = std::min(at, wanted.lookup(user));
      for (const Instruction* s : inst->extras().control_successors) at = std::min(at, wanted.lookup(s));
    }
    wanted[inst] = at;
  }
  // List scheduling by (wanted place, post-order).
  using Key = std::tuple<int64_t, size_t>;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
  llvm::DenseMap<const Instruction*, size_t> index, missing;
  auto needs = [](const Instruction* inst) {
    llvm::SmallDenseSet<const Instruction*, 8> all(inst->operands().begin(), inst->operands().end());
    for (const Instruction* p : inst->extras().control_predecessors) all.insert(p);
    return all.size();
  };
  for (size_t i = 0; i < order.size(); ++i) {
    index[order[i]] = i;
    missing[order[i]] = needs(order[i]);
    if (missing[order[i]] == 0) ready.emplace(wanted[order[i]], i);
  }
  std::vector<Instruction*> schedule;
  while (!ready.empty()) {
    Instruction* inst = order[std::get<1>(ready.top())];
    ready.pop();
    schedule.push_back(inst);
    llvm::SmallDenseSet<const Instruction*, 8> after(inst->users().begin(), inst->users().end());
    for (const Instruction* s : inst->extras().control_successors) after.insert(s);
    for (const Instruction* next : after)
      if (--missing[next] == 0) ready.emplace(wanted[next], index[next]);
  }
  return schedule;
}

}  // namespace hlo
