#include "passes/rewrite/pattern.h"

#include "passes/analysis/value_facts.h"

namespace hlo {

Pattern Pattern::Bind(int slot) {
  Pattern p;
  p.slot_ = slot;
  return p;
}

Pattern Pattern::Op(OpKind kind, llvm::ArrayRef<Pattern> operands) { return OneOf(kind, operands); }

Pattern Pattern::OneOf(llvm::ArrayRef<OpKind> kinds, llvm::ArrayRef<Pattern> operands) {
  Pattern p;
  p.kinds_.assign(kinds.begin(), kinds.end());
  if (!operands.empty()) p.operands_ = std::make_shared<const std::vector<Pattern>>(operands);
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
  const llvm::ArrayRef<Pattern> patterns = operands();
  if (!patterns.empty()) {
    const auto operands = inst.operands();
    if (operands.size() != patterns.size()) return false;
    // Opcodes first: most candidates fail there.
    for (size_t i = 0; i < operands.size(); ++i)
      if (!patterns[i].kinds_.empty() && !llvm::is_contained(patterns[i].kinds_, operands[i]->kind()))
        return false;
  }
  if (one_use_ && !HasOneUse(inst)) return false;
  if (slot_ >= 0) {
    Instruction*& place = bound[static_cast<size_t>(slot_)];
    if (place && place != &inst) return false;
    place = &inst;
  }
  for (size_t i = 0; i < patterns.size(); ++i)
    if (!patterns[i].Matches(*inst.operands()[i], bound)) return false;
  if (has_value_ && !IsAll(inst, value_)) return false;
  return llvm::all_of(tests_, [&](Test test) { return test(inst); });
}

std::vector<Pattern> Pattern::Commuted() const {
  std::vector<Pattern> variants = {*this};
  // Adds what `edit` makes of the operands of a variant.
  auto add = [&](size_t v, auto edit) {
    std::vector<Pattern> changed = *variants[v].operands_;
    edit(changed);
    variants.push_back(variants[v]);
    variants.back().operands_ = std::make_shared<const std::vector<Pattern>>(std::move(changed));
  };
  for (size_t i = 0; i < operands().size(); ++i) {
    const std::vector<Pattern> choices = operands()[i].Commuted();
    const size_t count = variants.size();
    for (size_t c = 1; c < choices.size(); ++c)
      for (size_t v = 0; v < count; ++v) add(v, [&](std::vector<Pattern>& list) { list[i] = choices[c]; });
  }
  const bool commutes = operands().size() == 2 && !kinds_.empty() &&
                        llvm::all_of(kinds_, [](OpKind kind) { return Info(kind).Is(kCommutative); });
  if (commutes) {
    const size_t count = variants.size();
    for (size_t v = 0; v < count; ++v)
      add(v, [](std::vector<Pattern>& list) { std::swap(list[0], list[1]); });
  }
  return variants;
}

bool HasOneUse(const Instruction& inst) {
  return inst.users().size() == 1 && !inst.IsRoot() && llvm::count(inst.users()[0]->operands(), &inst) == 1;
}

}  // namespace hlo
