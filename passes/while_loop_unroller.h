// while_loop_unroller: writes out all iterations of short loops (passes.md §4.5).
//
// Requires nothing. Preserves fusions, canonical dots and layouts.
// Changes: a loop whose trip count is known, small and follows from its induction variable becomes copies of
// its body, the variable a constant in each. Left alone: loops beyond the limits below, with sends or
// receives, with control edges, or whose condition has side effects.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct WhileLoopUnrollerOptions {
  int64_t max_trip_count = 64;
  int64_t max_body_instructions = 800;
  int64_t max_instructions = 10000;
  bool only_elementwise = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunWhileLoopUnroller(Module& module, const WhileLoopUnrollerOptions& options,
                                  PassContext& context);

}  // namespace hlo
