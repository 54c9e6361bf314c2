#include "ir/computation.h"

#include <cassert>

#include "ir/module.h"
#include "llvm/ADT/SetVector.h"

namespace hlo {

Computation::~Computation() {
  for (Instruction* i = first_; i != nullptr;) module_->Delete(std::exchange(i, i->next_));
}

Instruction* Computation::Add(OpKind kind, Shape shape, llvm::StringRef name,
                              llvm::ArrayRef<Instruction*> operands, Attrs attrs,
                              llvm::ArrayRef<Computation*> callees, Instruction* before) {
  auto* added = new (module_->InstructionMemory(kind)) Instruction(kind);
  added->stamp_ = module_->stamp();
  added->shape_ = std::move(shape);
  added->name_ = name;
  added->attrs_ = std::move(attrs);
  if (!added->attrs_.data() && added->info().attrs != &NoAttrs::kInfo)
    added->attrs_ = Attrs::Default(*added->info().attrs);
  added->parent_ = this;
  added->operands_.assign(operands.begin(), operands.end());
  for (Instruction* operand : operands) operand->users_.AddFresh(added);
  if (!callees.empty()) added->SetCallees(callees);

  added->next_ = before;
  added->prev_ = before ? before->prev_ : last_;
  (added->prev_ ? added->prev_->next_ : first_) = added;
  (before ? before->prev_ : last_) = added;
  added->number_ = static_cast<int32_t>(count_++);  // right at once for computations built in order
  if (added->info().MayDoMore()) ForgetSummary();
  if (kind == OpKind::Parameter) {
    const auto number = static_cast<size_t>(added->attr<ParameterAttrs>().number);
    assert(number < (1u << 20));
    if (number >= parameters_.size()) parameters_.resize(number + 1);
    assert(!parameters_[number] && "parameter number taken");
    parameters_[number] = added;
  }
  return added;
}

void Computation::Remove(Instruction* instruction) {
  if (instruction->kind_ == OpKind::Parameter) {
    assert(parameters_.back() == instruction);
    parameters_.pop_back();
  }
  if (!schedule_.empty()) llvm::erase(schedule_, instruction);
  Destroy(instruction);
}

void Computation::RemoveParameters(llvm::function_ref<bool(const Instruction&)> unneeded) {
  llvm::SmallSetVector<Instruction*, 8> removed;
  size_t kept = 0;
  for (Instruction* p : parameters_) {
    if (unneeded(*p)) {
      removed.insert(p);
      continue;
    }
    const auto number = static_cast<int64_t>(kept);
    if (p->attr<ParameterAttrs>().number != number)
      p->mutable_attrs().Mutable<ParameterAttrs>().number = number;
    parameters_[kept++] = p;
  }
  parameters_.resize(kept);
  if (!schedule_.empty()) llvm::erase_if(schedule_, [&](Instruction* i) { return removed.contains(i); });
  for (Instruction* p : removed) Destroy(p);
}

void Computation::Destroy(Instruction* instruction) {
  assert(instruction->parent_ == this && instruction->users().empty() && instruction != root_);
  instruction->DropControlEdges();
  instruction->SetOperands({});
  instruction->SetCallees({});
  if (instruction->info().MayDoMore()) ForgetSummary();
  (instruction->prev_ ? instruction->prev_->next_ : first_) = instruction->next_;
  (instruction->next_ ? instruction->next_->prev_ : last_) = instruction->prev_;
  --count_;
  module_->Delete(instruction);
}

void Computation::ForgetSummary() {
  if (summary() == 0) return;
  // Who knows nothing has no caller who knows something.
  llvm::SmallVector<Computation*, 8> stale = {this};
  while (!stale.empty()) {
    Computation* c = stale.pop_back_val();
    if (c->summary() == 0) continue;
    c->set_summary(0);
    for (const Instruction* caller : c->callers()) stale.push_back(caller->parent());
  }
}

void Computation::NumberInstructions() {
  int32_t number = 0;
  for (Instruction* i : instructions()) i->number_ = number++;
}

std::vector<Instruction*> Computation::InstructionsOf(OpKind kind) const {
  std::vector<Instruction*> found;
  if (module_->CountOf(kind) == 0) return found;
  for (Instruction* i : instructions())
    if (i->kind() == kind) found.push_back(i);
  return found;
}

std::vector<Instruction*> Computation::PostOrder() const {
  enum State : uint8_t { Unseen, Open, Emitted };
  // Large computations do not fit into caches: each instruction is looked at twice, its number comes along.
  struct Entry {
    Instruction* at;
    size_t number;
  };
  // Devices that run a module at the same time may ask for the same order: they write the same numbers.
  const auto shared = [](Instruction* i) { return std::atomic_ref(i->number_); };
  int32_t number = 0;
  std::vector<Instruction*> unused;
  for (Instruction* i : instructions()) {
    shared(i).store(number++, std::memory_order_relaxed);
    if (i->users().empty()) unused.push_back(i);
  }
  std::vector<uint8_t> state(static_cast<size_t>(number), Unseen);
  std::vector<Instruction*> order;
  std::vector<Entry> stack;
  order.reserve(state.size());
  auto push = [&](Instruction* i) {
    const auto n = static_cast<size_t>(shared(i).load(std::memory_order_relaxed));
    if (state[n] == Unseen) stack.push_back({i, n});
  };
  for (Instruction* start : unused) {
    push(start);
    while (!stack.empty()) {
      const auto [at, n] = stack.back();
      if (state[n] != Unseen) {
        stack.pop_back();
        if (state[n] == Open) {
          state[n] = Emitted;
          order.push_back(at);
        }
        continue;
      }
      state[n] = Open;
      for (Instruction* o : llvm::reverse(at->operands())) push(o);
      if (at->has_extras())
        for (Instruction* p : at->extras().control_predecessors) push(p);
    }
  }
  return order;
}

bool Computation::IsFusion() const {
  return llvm::any_of(callers(), [](Instruction* i) { return i->kind() == OpKind::Fusion; });
}

bool Computation::IsEntry() const { return module_->entry() == this; }

std::vector<Shape> Computation::ParameterShapes() const {
  std::vector<Shape> shapes;
  shapes.reserve(parameters_.size());
  for (Instruction* p : parameters_) shapes.push_back(p->shape());
  return shapes;
}

}  // namespace hlo
