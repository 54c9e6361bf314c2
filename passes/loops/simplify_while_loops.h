// simplify-while-loops: makes loops carry less, and dissolves loops that run never or once (passes.md §4.5).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: elements of the state that hold the same value are merged; nested tuples flattened; elements that
// nothing needs, or that are constant, removed; values of invariant elements after the loop are their initial
// values; loops of trip count 0 become their initial state, of trip count 1 their body; integer elements that
// grow by constants are computed from one counter. Left alone: loops whose computations others call, or whose
// state is sharded; with sends, receives or other side effects the loop itself stays.
#pragma once
#include "passes/analysis/loop_facts.h"
#include "passes/pass.h"

namespace hlo {

struct SimplifyWhileLoopsOptions {
  bool simplify_compare_instrs = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunSimplifyWhileLoops(Module& module, const SimplifyWhileLoopsOptions& options,
                                   PassContext& context);

// The steps, each true if it changed the loop; those on elements require MayReshapeLoop().
bool MergeLoopElements(const TupleLoop& loop, PassContext& context);
bool FlattenLoopState(const TupleLoop& loop, PassContext& context);
bool RemoveDeadLoopElements(const TupleLoop& loop, PassContext& context);
bool RemoveConstantLoopElements(const TupleLoop& loop, PassContext& context);
bool MergeInductionVariables(const TupleLoop& loop, PassContext& context);

}  // namespace hlo
