// loop-double-buffer-transformer: two iterations of a loop in one (passes.md §4.5).
//
// Requires nothing. Preserves fusions, canonical dots and layouts.
// Changes: the body of a loop of known trip count does two iterations; an odd count leaves the first
// iteration in front of the loop. unroll_strategy `full-unroll` writes out all of them, `auto` those of at
// most two trips. Left alone: loops whose computations others call, bodies with side effects, control edges,
// fewer than two trips.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct LoopDoubleBufferOptions {
  std::string unroll_strategy = "double-buffer";
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunLoopDoubleBufferTransformer(Module& module, const LoopDoubleBufferOptions& options,
                                            PassContext& context);

}  // namespace hlo
