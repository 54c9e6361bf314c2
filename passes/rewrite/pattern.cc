#include "passes/rewrite/pattern.h"

#include "passes/analysis/value_facts.h"

namespace hlo {

Pattern Pattern::Bind(int slot) {
  Pattern p;
  p.slot_ = slot;
  return p;
}

Pattern Pattern::Op(OpKind kind, std::vector<Pattern> operands) { return OneOf({kind}, std::move(operands)); }

Pattern Pattern::OneOf(std::vector<OpKind> kinds, std::vector<Pattern> operands) {
  Pattern p;
  p.kinds_ = std::move(kinds);
  p.operands_ = std::move(operands);
  return p;
}

Pattern Pattern::All(double value) {
  Pattern p;
  p.has_value_ = true;
  p.value_ = value;
  return p;
}

Pattern Pattern::As(const Pattern& slot) const {
  Pattern p = *this;
  p.slot_ = slot.slot_;
  return p;
}

Pattern Pattern::If(Test test) const {
  Pattern p = *this;
  p.tests_.push_back(test);
  return p;
}

Pattern Pattern::OneUse() const {
  Pattern p = *this;
  p.one_use_ = true;
  return p;
}

bool Pattern::Matches(Instruction& inst, llvm::MutableArrayRef<Instruction*> bound) const {
  if (!kinds_.empty() && !llvm::is_contained(kinds_, inst.kind())) return false;
  if (!operands_.empty()) {
    const auto operands = inst.operands();
    if (operands.size() != operands_.size()) return false;
    // Opcodes first: most candidates fail there.
    for (size_t i = 0; i < operands.size(); ++i)
      if (!operands_[i].kinds_.empty() && !llvm::is_contained(operands_[i].kinds_, operands[i]->kind()))
        return false;
  }
  if (one_use_ && !HasOneUse(inst)) return false;
  if (slot_ >= 0) {
    Instruction*& place = bound[static_cast<size_t>(slot_)];
    if (place && place != &inst) return false;
    place = &inst;
  }
  for (size_t i = 0; i < operands_.size(); ++i)
    if (!operands_[i].Matches(*inst.operands()[i], bound)) return false;
  if (has_value_ && !IsAll(inst, value_)) return false;
  return llvm::all_of(tests_, [&](Test test) { return test(inst); });
}

std::vector<Pattern> Pattern::Commuted() const {
  std::vector<Pattern> variants = {*this};
  for (size_t i = 0; i < operands_.size(); ++i) {
    const std::vector<Pattern> choices = operands_[i].Commuted();
    const size_t count = variants.size();
    for (size_t c = 1; c < choices.size(); ++c)
      for (size_t v = 0; v < count; ++v) {
        variants.push_back(variants[v]);
        variants.back().operands_[i] = choices[c];
      }
  }
  const bool commutes = operands_.size() == 2 && !kinds_.empty() &&
                        llvm::all_of(kinds_, [](OpKind kind) { return Info(kind).Is(kCommutative); });
  if (commutes) {
    const size_t count = variants.size();
    for (size_t v = 0; v < count; ++v) {
      variants.push_back(variants[v]);
      std::swap(variants.back().operands_[0], variants.back().operands_[1]);
    }
  }
  return variants;
}

bool HasOneUse(const Instruction& inst) {
  return inst.users().size() == 1 && !inst.IsRoot() && llvm::count(inst.users()[0]->operands(), &inst) == 1;
}

}  // namespace hlo
