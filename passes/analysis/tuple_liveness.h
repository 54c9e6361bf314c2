// Which parts of tuples a whole module needs.
#pragma once
#include "ir/module.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// For every value of the module, which of its leaves reach the result of the entry or a side effect, looked
/// through tuples, loops, conditionals and calls. Loops and conditionals count as run: what decides about
/// them is needed.
class TupleLiveness {
 public:
  explicit TupleLiveness(const Module& module);
  /// Any leaf of element `i` of a tuple-shaped value is needed.
  [[nodiscard]] bool IsElementLive(const Instruction& tuple, int64_t i) const;

 private:
  struct Value {
    llvm::BitVector live;                   // by leaf, in depth-first order
    llvm::SmallVector<int64_t, 4> offsets;  // tuples: first leaf of each element, and the number of leaves
  };
  Value& Get(const Instruction& inst);
  void Mark(const Instruction& inst, int64_t leaf);
  void MarkAll(const Instruction& inst);
  // Mark what a leaf of a value is made of; by opcode.
  void Follow(const Instruction& inst, int64_t leaf);
  void FollowParameter(const Instruction& parameter, int64_t leaf);
  void FollowTuple(const Instruction& inst, int64_t leaf);
  void FollowGetTupleElement(const Instruction& inst, int64_t leaf);
  void FollowWhile(const Instruction& inst, int64_t leaf);
  void FollowCall(const Instruction& inst, int64_t leaf);
  void FollowOperand(const Instruction& inst, int64_t leaf);
  void FollowAll(const Instruction& inst, int64_t leaf);

  llvm::DenseMap<const Instruction*, std::unique_ptr<Value>> values_;
  std::vector<std::pair<const Instruction*, int64_t>> work_;
};

}  // namespace hlo
