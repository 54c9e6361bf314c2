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
bool Instruction::IsRoot() const { return parent_->root() == this; }

void Instruction::SetOperand(int64_t i, Instruction* value) {
  Instruction*& slot = operands_[static_cast<size_t>(i)];
  if (slot == value) return;
  Instruction* old = slot;
  slot = value;
  if (!llvm::is_contained(operands_, old)) old->users_.Remove(this);
  value->users_.Add(this);
}

void Instruction::SetOperands(llvm::ArrayRef<Instruction*> values) {
  const llvm::SmallVector<Instruction*, 4> fresh(values.begin(), values.end());
  for (Instruction* old : operands_) old->users_.Remove(this);
  operands_.assign(fresh.begin(), fresh.end());
  for (Instruction* value : operands_) value->users_.Add(this);
}

void Instruction::ReplaceAllUsesWith(Instruction* other) {
  assert(other != this && other->parent_ == parent_);
  const llvm::SmallVector<Instruction*, 8> old_users(users().begin(), users().end());
  for (Instruction* user : old_users) {
    if (user == other) continue;
    for (int64_t i = 0; i < user->operand_count(); ++i)
      if (user->operand(i) == this) user->SetOperand(i, other);
  }
  if (IsRoot()) parent_->set_root(other);
}

void Instruction::SetCallees(llvm::ArrayRef<Computation*> callees) {
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
  auto& list = MutableExtras().control_predecessors;
  if (llvm::is_contained(list, before)) return;
  list.push_back(before);
  before->MutableExtras().control_successors.push_back(this);
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
