// fusion: instruction fusion as XLA does it for CPUs (passes.md §5.2).
//
// Requires nothing. Preserves the flat call graph; establishes fusions.
// Changes: producers are copied into the loops of their consumers, latest operand first, as long as that
// saves memory traffic and neither repeats expensive work nor multiplies code. Left alone: bodies of map,
// reduce, sort and the like, existing custom fusions, values with side effects or control edges.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct FusionOptions {
  bool may_duplicate = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunFusion(Module& module, const FusionOptions& options, PassContext& context);

}  // namespace hlo
