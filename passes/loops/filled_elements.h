// Elements of loops that are written part by part, one part in each iteration.
#pragma once
#include "passes/analysis/loop_facts.h"

namespace hlo {

/// Who reads which element of the state inside of a loop.
struct LoopReads {
  explicit LoopReads(const TupleLoop& loop);
  std::vector<llvm::SmallVector<Instruction*, 2>> in_body, in_condition;
  bool by_element = false;  // nobody reads the state as a whole
  /// The condition depends on the element.
  [[nodiscard]] bool Decides(int64_t element) const;
};
/// Dimension `d` of the operation's indices, which begin at operand `first`, is the induction variable,
/// negative values wrapped or not.
bool StartsAtInduction(const TupleLoop& loop, const LoopCount& trips, const Instruction& inst, int64_t first,
                       int64_t d);
/// The dynamic-update-slice that makes the next value of the element, if the loop writes all of it, each part
/// once, in the order of the induction variable, and nothing else reads the element inside of the loop; the
/// dimension along which the parts lie. Null and -1: it does not.
struct FilledElement {
  Instruction* update = nullptr;
  int64_t dimension = -1;
};
FilledElement AsFilledByLoop(const TupleLoop& loop, const LoopReads& reads, const LoopCount& trips,
                             int64_t element);

}  // namespace hlo
