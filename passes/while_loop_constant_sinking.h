// while-loop-constant-sinking: brings constants into loops that carry them unchanged (passes.md §2.4).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: reads of invariant elements whose initial value is a constant become that constant, in body and
// condition. The element itself stays; simplify-while-loops removes it. Left alone: loops whose computations
// others call, elided constants.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct WhileLoopConstantSinkingOptions {
  bool sink_broadcast_of_constants = false;
  bool sink_only_scalar_constants = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunWhileLoopConstantSinking(Module& module, const WhileLoopConstantSinkingOptions& options,
                                         PassContext& context);

}  // namespace hlo
