// collective-pipeliner: exchanges of loops run beside the computations of another iteration (passes.md §2.6).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes loops of known trip count:
//  - forward: an all-reduce or reduce-scatter, of which the body only makes a part that it writes into an
//    element of the state, runs in the next iteration, with all that reads it. What these need becomes part
//    of the state; the first iteration stands before the loop without them, and they stand behind it for the
//    last.
//  - forward_sink: an all-reduce or reduce-scatter whose results, after elementwise steps at most, fill an
//    element of the state part by part runs once, behind the loop, on the whole element.
//  - backward: an all-gather of what follows from the induction variable and elements that never change runs
//    in the iteration before. The first one stands before the loop, and the last iteration behind it.
// Left alone: loops that others share or of fewer than two trips, bodies with control edges or other side
// effects, exchanges of several arrays, those that another iteration makes ready already.
#pragma once
#include "passes/pass.h"
#include "passes/rewrite/loop_edit.h"

namespace hlo {

/// The loop gets a state, a body and a start of another size; `results` are what it leaves of the old state,
/// made behind it.
class NewLoopState {
 public:
  explicit NewLoopState(const TupleLoop& loop)
      : loop_(loop), users_(loop.loop->users()), was_root_(loop.loop->IsRoot()) {}

  void Set(Computation* body, llvm::ArrayRef<Instruction*> init);
  /// Null: as the loop leaves it.
  void ReplaceResults(llvm::ArrayRef<Instruction*> results, const Shape& shape);

 private:
  const TupleLoop& loop_;
  llvm::SmallVector<Instruction*, 4> users_;
  bool was_root_;
};

/// Reductions of what the loop writes part by part into an element move behind the loop, where they take the
/// whole element at once. The loop has no side effects but plain collectives.
bool SinkExchanges(const TupleLoop& loop, const LoopCount& counted, PassContext& context);

}  // namespace hlo
