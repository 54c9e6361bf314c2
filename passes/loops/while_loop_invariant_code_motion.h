// while-loop-invariant-code-motion: computes before a loop what is the same in all iterations (passes.md
// §4.5).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: values of the body that depend on unchanged elements only are computed outside and carried as new
// elements. Values that are cheap to make (constants, iota, data movement without arithmetic) move along with
// a consumer that is worth it, never alone. Left alone: loops that run at most once, share their computations
// or have a sharded state; bodies with domains or host transfers; the frontend attribute
// `_xla_disable_loop_instr_hoisting`; side effects, control edges, and inner loops, which may not end.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct LoopHoistingOptions {
  bool hoist_constants = false;
  bool hoist_other = true;
  bool hoist_reshapes = false;
  bool hoist_widening = true;
  double hoist_size_inflation_ratio = 0;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunWhileLoopInvariantCodeMotion(Module& module, const LoopHoistingOptions& options,
                                             PassContext& context);

/// The same for chosen instructions: only those that `worth` accepts are hoisted for their own sake.
Result<bool> HoistFromLoops(Module& module, const LoopHoistingOptions& options, PassContext& context,
                            llvm::function_ref<bool(const Instruction&)> worth);

}  // namespace hlo
