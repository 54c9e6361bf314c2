// Patterns over instructions as values: what a rule looks for, and what it puts in its place.
#pragma once
#include <memory>
#include <vector>

#include "ir/instruction.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo {

/// A tree of tests on an instruction and its operands. In a rule's replacement the same tree says what to
/// make: slots stand for what was bound, opcodes (without attributes) for new instructions, values for
/// constants of the root's shape. Copies share their operand patterns, as the tables of rules are built from
/// many of them.
class Pattern {
 public:
  using Test = bool (*)(const Instruction& inst);
  static constexpr int kSlots = 12;

  /// Any instruction, bound to the slot; a slot that is bound already must be the same instruction.
  static Pattern Bind(int slot);
  /// Any instruction.
  static Pattern Any() { return {}; }
  /// This opcode; without operand patterns the operands may be anything.
  static Pattern Op(OpKind kind, llvm::ArrayRef<Pattern> operands = {});
  /// One of several opcodes with the same operand patterns.
  static Pattern OneOf(llvm::ArrayRef<OpKind> kinds, llvm::ArrayRef<Pattern> operands = {});
  /// A value all of whose elements equal `value`: a constant, or broadcasts of one.
  static Pattern All(double value);

  /// Also binds the instruction matched here.
  [[nodiscard]] Pattern As(const Pattern& slot) const;
  /// Also demands `test`; all tests must hold.
  [[nodiscard]] Pattern If(Test test) const;
  /// Also demands that one instruction uses the value, once, and that it is not the root.
  [[nodiscard]] Pattern OneUse() const;

  [[nodiscard]] llvm::ArrayRef<OpKind> kinds() const { return kinds_; }  // empty: any
  [[nodiscard]] llvm::ArrayRef<Pattern> operands() const {
    return operands_ ? llvm::ArrayRef<Pattern>(*operands_) : llvm::ArrayRef<Pattern>();
  }
  [[nodiscard]] int slot() const { return slot_; }
  [[nodiscard]] bool has_value() const { return has_value_; }
  [[nodiscard]] double value() const { return value_; }

  /// Binds slots; `bound` must be all null before. On failure its contents are arbitrary.
  bool Matches(Instruction& inst, llvm::MutableArrayRef<Instruction*> bound) const;
  /// The variants that arise from swapping operand patterns of commutative opcodes, this one first.
  [[nodiscard]] std::vector<Pattern> Commuted() const;

 private:
  llvm::SmallVector<OpKind, 8> kinds_;
  std::shared_ptr<const std::vector<Pattern>> operands_;  // null: none
  llvm::SmallVector<Test, 1> tests_;
  double value_ = 0;
  bool has_value_ = false;
  bool one_use_ = false;
  int slot_ = -1;
};

/// The value is used by one instruction as one operand, and not the root of its computation.
bool HasOneUse(const Instruction& inst);

namespace pattern {

// Slots. NOLINTBEGIN(readability-identifier-naming): the words in which rules are written
inline const Pattern A = Pattern::Bind(0), B = Pattern::Bind(1), C = Pattern::Bind(2), D = Pattern::Bind(3),
                     E = Pattern::Bind(4), F = Pattern::Bind(5), P = Pattern::Bind(6), Q = Pattern::Bind(7),
                     R = Pattern::Bind(8), S = Pattern::Bind(9), X = Pattern::Bind(10), Y = Pattern::Bind(11);
inline const Pattern Any = Pattern::Any();
// Values; in replacements of boolean type One is true.
inline const Pattern Zero = Pattern::All(0), One = Pattern::All(1);
// NOLINTEND(readability-identifier-naming)
// One function per opcode: Add(A, B), Negate(A), Reshape(A); Dot() for any operands.
#define HLO_OP(Kind, ...)                              \
  template <class... Operands>                         \
  Pattern Kind(const Operands&... operands) {          \
    if constexpr (sizeof...(operands) == 0)            \
      return Pattern::Op(OpKind::Kind);                \
    else                                               \
      return Pattern::Op(OpKind::Kind, {operands...}); \
  }
#include "ir/ops.def"

}  // namespace pattern
}  // namespace hlo
