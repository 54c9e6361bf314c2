// tuple-simplifier: removes tuples that are made only to be taken apart, and the reverse (passes.md §4.4).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: an element read from a `tuple` becomes the element; a `tuple` of all elements of a value of the
// same shape becomes that value. Left alone: bodies of fusions, instructions with control edges.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct TupleSimplifierOptions {
  bool exclude_entry_computation = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunTupleSimplifier(Module& module, const TupleSimplifierOptions& options, PassContext& context);
/// The same for one computation.
bool SimplifyTuples(Computation& computation, PassContext& context);

}  // namespace hlo
