#include "ir/module.h"

#include <cassert>

#include "ir/findings.h"
#include "ir/name_table.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {
namespace {

/// Before a computation goes: nothing that stays knows of its instructions.
void Unlink(Computation& computation) {
  computation.set_root(nullptr);
  for (Instruction* i : computation.instructions()) i->SetCallees({});
}

}  // namespace

Module::Module(llvm::StringRef name)
    : kind_counts_(AllOps().size()),
      instruction_names_(std::make_unique<NameTable>()),
      computation_names_(std::make_unique<NameTable>()) {
  name_ = Save(name);
}

Module::~Module() { SetFindings(*this, nullptr); }

Computation* Module::AddComputation(llvm::StringRef name) {
  computations_.emplace_back(new Computation(this, name));
  return computations_.back().get();
}

void* Module::InstructionMemory(OpKind kind) {
  ++kind_counts_[static_cast<size_t>(kind)];
  if (!free_instructions_.empty()) {
    void* memory = free_instructions_.back();
    free_instructions_.pop_back();
    return memory;
  }
  return instruction_arena_.Allocate(sizeof(Instruction), alignof(Instruction));
}

void Module::Delete(Instruction* instruction) {
  --kind_counts_[static_cast<size_t>(instruction->kind())];
  instruction->~Instruction();
  free_instructions_.push_back(instruction);
}

void Module::MoveToEnd(Computation* computation) {
  size_t i = computations_.size() - 1;
  while (computations_[i].get() != computation) --i;
  std::rotate(computations_.begin() + static_cast<ptrdiff_t>(i),
              computations_.begin() + static_cast<ptrdiff_t>(i) + 1, computations_.end());
}

void Module::RemoveComputations(llvm::ArrayRef<Computation*> dead) {
  for (Computation* computation : dead) Unlink(*computation);
  const llvm::DenseSet<const Computation*> all(dead.begin(), dead.end());
  llvm::erase_if(computations_, [&](const auto& c) {
    if (!all.contains(c.get())) return false;
    assert(c->callers().empty() && c.get() != entry_);
    return true;
  });
}

void Module::RemoveLastComputation() {
  assert(computations_.back()->callers().empty() && computations_.back().get() != entry_);
  Unlink(*computations_.back());
  computations_.pop_back();
}

std::vector<Computation*> Module::PrintOrder() const {
  // errata-text A1, errata-2 4: a computation counts as visited when it is pushed, not when it is entered, so
  // one that several levels of callers share may be printed behind some of them.
  std::vector<Computation*> order;
  llvm::DenseSet<const Computation*> printed;
  struct Entry {
    Computation* computation;
    Instruction* next;  // first instruction not looked at yet
  };
  for (const auto& root : computations_) {
    if (!root->callers().empty()) continue;
    if (!root->has_calls()) {
      if (printed.insert(root.get()).second) order.push_back(root.get());
      continue;
    }
    llvm::DenseSet<const Computation*> visited;
    std::vector<Entry> stack;
    auto push_callees = [&](Instruction* caller) {
      for (Computation* callee : llvm::reverse(caller->callees()))
        if (visited.insert(callee).second)
          stack.push_back({callee, callee->has_calls() ? callee->first() : nullptr});
    };
    auto emit = [&](Computation* c) {
      if (printed.insert(c).second) order.push_back(c);
    };
    for (Instruction* i : root->instructions()) {
      if (i->callees().empty()) continue;
      push_callees(i);
      while (!stack.empty()) {
        Instruction* at = stack.back().next;
        while (at && at->callees().empty()) at = at->next();
        if (!at) {
          emit(stack.back().computation);
          stack.pop_back();
          continue;
        }
        stack.back().next = at->next();
        push_callees(at);
      }
    }
    emit(root.get());
  }
  return order;
}

std::vector<Computation*> Module::PostOrder() const {
  std::vector<Computation*> order;
  llvm::DenseSet<const Computation*> seen;
  struct Entry {
    Computation* computation;
    Instruction* next;
    size_t callee = 0;
  };
  std::vector<Entry> stack;
  auto push = [&](Computation* c) { stack.push_back({c, c->has_calls() ? c->first() : nullptr}); };
  for (const auto& start : computations_) {
    if (!seen.insert(start.get()).second) continue;
    push(start.get());
    while (!stack.empty()) {
      Entry& top = stack.back();
      while (top.next && top.callee == top.next->callees().size()) {
        top.next = top.next->next();
        top.callee = 0;
      }
      if (!top.next) {
        order.push_back(top.computation);
        stack.pop_back();
        continue;
      }
      Computation* callee = top.next->callees()[top.callee++];
      if (seen.insert(callee).second) push(callee);
    }
  }
  return order;
}

Computation* Module::FindComputation(llvm::StringRef name) const {
  for (const auto& c : computations_)
    if (c->name() == name) return c.get();
  return nullptr;
}

int64_t Module::InstructionCount() const {
  int64_t count = 0;
  for (const auto& c : computations_) count += c->instruction_count();
  return count;
}

llvm::StringRef Module::Save(llvm::StringRef text) {
  return text.empty() ? llvm::StringRef("") : text.copy(arena_);
}

const OpMetadata* Module::Save(const OpMetadata& metadata) {
  auto* copy = new (arena_.Allocate<OpMetadata>()) OpMetadata(metadata);
  if (!metadata.profile_type.empty()) {
    auto* types = arena_.Allocate<int32_t>(metadata.profile_type.size());
    llvm::copy(metadata.profile_type, types);
    copy->profile_type = {types, metadata.profile_type.size()};
  }
  return copy;
}

void Module::KeepSource(SourcePtr source) {
  if (!llvm::is_contained(sources_, source)) sources_.push_back(std::move(source));
}

llvm::StringRef Module::UniqueInstructionName(llvm::StringRef wanted) {
  return instruction_names_->Take(wanted, *this);
}
llvm::StringRef Module::UniqueComputationName(llvm::StringRef wanted) {
  return computation_names_->Take(wanted, *this);
}

}  // namespace hlo
