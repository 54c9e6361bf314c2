// reshape-mover: reshapes and transposes move below elementwise operations (passes.md §4.8).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: an elementwise instruction whose operands are alike rearranged works on the values before, and its
// result is rearranged, if nobody else uses the rearranged operands. Scalars, constants and broadcasts
// whose dimensions come through may stand beside them, as an option any broadcast vector. Groups of
// elementwise instructions that differ by dimensions of size 1 only take the shape that needs the fewest
// reshapes (reshape_align.h), upwards too, which XLA's pass does not. To be run with algsimp to a fixed
// point. Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct ReshapeMoverOptions {
  bool reshape_of_1d_broadcast_is_cheap = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunReshapeMover(Module& module, const ReshapeMoverOptions& options, PassContext& context);

}  // namespace hlo
