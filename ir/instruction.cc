#include "ir/instruction.h"

#include <cassert>

#include "ir/computation.h"

namespace hlo {

const InstructionExtras Instruction::kNoExtras;

void UserList::Add(Instruction* user) {
  if (!Contains(user)) Append(user);
}

void UserList::Index() const {
  if (position_ || users_.size() < kIndexed) return;
  position_ = std::make_unique<llvm::DenseMap<const Instruction*, unsigned>>();
  position_->reserve(static_cast<unsigned>(users_.size()));
  for (size_t i = 0; i < users_.size(); ++i) (*position_)[users_[i]] = static_cast<unsigned>(i);
}

void UserList::Remove(Instruction* user) {
  size_t i = 0;
  Index();
  if (position_) {
    auto it = position_->find(user);
    if (it == position_->end()) return;
    i = it->second;
    position_->erase(it);
    if (users_.back() != user) (*position_)[users_.back()] = static_cast<unsigned>(i);
  } else {
    while (i < users_.size() && users_[i] != user) ++i;
    if (i == users_.size()) return;
  }
  users_[i] = users_.back();
  users_.pop_back();
}

bool UserList::Contains(const Instruction* user) const {
  Index();
  return position_ ? position_->contains(user) : llvm::is_contained(users_, user);
}

Instruction::~Instruction() = default;

Module* Instruction::module() const { return parent_->module(); }
Attrs& Instruction::mutable_attrs() {
  if (info().MayDoMore()) parent_->ForgetSummary();
  return attrs_;
}

bool Instruction::IsRoot() const { return parent_->root() == this; }

Instruction::OperandPlaces* Instruction::Places() {
  if (!places_ && operands_.size() >= kManyOperands) {
    places_ = std::make_unique<OperandPlaces>();
    for (size_t i = 0; i < operands_.size(); ++i)
      (*places_)[operands_[i]].push_back(static_cast<uint32_t>(i));
  }
  return places_.get();
}

void Instruction::SetOperand(int64_t i, Instruction* value) {
  Instruction*& slot = operands_[static_cast<size_t>(i)];
  if (slot == value) return;
  OperandPlaces* places = Places();  // of what there was, before it changes
  Instruction* old = std::exchange(slot, value);
  bool is_left = false;
  if (places) {
    const auto at = places->find(old);
    llvm::erase(at->second, static_cast<uint32_t>(i));
    is_left = !at->second.empty();
    if (!is_left) places->erase(at);
    (*places)[value].push_back(static_cast<uint32_t>(i));
  } else {
    is_left = llvm::is_contained(operands_, old);
  }
  if (!is_left) old->users_.Remove(this);
  value->users_.Add(this);
}

void Instruction::ReplaceOperand(Instruction* old, Instruction* by) {
  if (old == by) return;
  if (OperandPlaces* places = Places()) {
    const auto at = places->find(old);
    if (at == places->end()) return;
    const llvm::SmallVector<uint32_t, 1> moved = std::move(at->second);
    places->erase(at);
    for (const uint32_t i : moved) operands_[i] = by;
    llvm::append_range((*places)[by], moved);
  } else {
    if (!llvm::is_contained(operands_, old)) return;
    std::replace(operands_.begin(), operands_.end(), old, by);
  }
  old->users_.Remove(this);
  by->users_.Add(this);
}

void Instruction::SetOperands(llvm::ArrayRef<Instruction*> values) {
  places_.reset();
  const llvm::SmallVector<Instruction*, 4> fresh(values.begin(), values.end());
  for (Instruction* old : operands_) old->users_.Remove(this);
  operands_.assign(fresh.begin(), fresh.end());
  for (Instruction* value : operands_) value->users_.Add(this);
}

void Instruction::ReplaceAllUsesWith(Instruction* other) {
  assert(other != this && other->parent_ == parent_);
  const llvm::SmallVector<Instruction*, 8> old_users(users().begin(), users().end());
  for (Instruction* user : old_users) {
    if (user != other) user->ReplaceOperand(this, other);
  }
  if (IsRoot()) parent_->set_root(other);
}

void Instruction::SetCallees(llvm::ArrayRef<Computation*> callees) {
  if (!callees_.empty() || !callees.empty()) parent_->ForgetSummary();
  for (Computation* c : callees_) c->callers_.Remove(this);
  parent_->calls_ += static_cast<int64_t>(!callees.empty()) - static_cast<int64_t>(!callees_.empty());
  callees_.assign(callees.begin(), callees.end());
  for (Computation* c : callees_) c->callers_.AddFresh(this);
}

InstructionExtras& Instruction::MutableExtras() {
  if (!extras_) extras_ = std::make_unique<InstructionExtras>();
  return *extras_;
}

void Instruction::AddControlPredecessor(Instruction* before) {
  auto& here = MutableExtras().control_predecessors;
  auto& there = before->MutableExtras().control_successors;
  // Both lists know of the edge; one may be long.
  if (here.size() < there.size() ? llvm::is_contained(here, before) : llvm::is_contained(there, this)) return;
  here.push_back(before);
  there.push_back(this);
}

void Instruction::DropControlEdges() {
  if (!extras_) return;
  for (Instruction* p : extras_->control_predecessors)
    llvm::erase(p->MutableExtras().control_successors, this);
  for (Instruction* s : extras_->control_successors)
    llvm::erase(s->MutableExtras().control_predecessors, this);
  extras_->control_predecessors.clear();
  extras_->control_successors.clear();
}

}  // namespace hlo
