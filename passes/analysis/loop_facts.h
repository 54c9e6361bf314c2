// What is known about while loops over tuples: invariant elements, induction variables, trip counts.
#pragma once
#include <optional>

#include "ir/module.h"

namespace hlo {

/// A while loop whose state is a tuple that the body puts together at its end.
struct TupleLoop {
  Instruction* loop;
  Computation *body, *condition;
  Instruction *body_parameter, *condition_parameter;
  Instruction* body_root;  // a `tuple`

  [[nodiscard]] int64_t size() const { return loop->shape().tuple_size(); }
  [[nodiscard]] Instruction* init() const { return loop->operand(0); }
  /// The element's value before the loop, if `init` is a `tuple`; else null.
  [[nodiscard]] Instruction* InitElement(int64_t i) const;
  /// The body hands the element on as it got it.
  [[nodiscard]] bool IsInvariant(int64_t i) const;
};
/// Nothing for other instructions and loops, and where others read starts that the loop is given.
std::optional<TupleLoop> AsTupleLoop(Instruction& inst);

/// How often a body runs.
struct LoopCount {
  int64_t count = 0;
  int64_t induction = -1;  // the only element that the condition depends on and that varies; -1: none varies
  /// Where the element starts at `init` and grows by `step` each time; both or neither.
  std::optional<int64_t> init, step;
};
/// Trip count (passes.md §4.5): from the pattern "compare i with a constant, add a constant to i", otherwise
/// by evaluating condition and update, up to `max_evaluated` times. Nothing if it depends on unknown values,
/// the induction variable overflows, or evaluation does not come to an end.
std::optional<LoopCount> CountTrips(const TupleLoop& loop, int64_t max_evaluated = 128);
/// An upper bound of the trip count: the count, or 1 where the body sets the only thing the condition reads
/// to a constant that ends the loop.
std::optional<int64_t> TripCountUpperBound(const TupleLoop& loop);

}  // namespace hlo
