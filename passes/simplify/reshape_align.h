// Part of reshape-mover: elementwise instructions whose operands and users differ from them by dimensions of
// size 1 only choose one shape.
#pragma once
#include "passes/pass.h"

namespace hlo {

/// A reshape of static shape that only adds or removes dimensions of size 1, and that nothing ties to its
/// shape (control edges, sharding, a layout that is not the default one).
bool ChangesOnlyOnes(const Instruction& inst);

/// Elementwise instructions that are connected directly, through such reshapes or by sharing operands form a
/// group. A group that needs fewer of these reshapes in another shape (of values from outside, and of its
/// results for their users), or as many but fewer of values from outside, changes to that shape. Both counts
/// fall, so repeated runs come to an end. Reshapes that nobody needs any more are left to algsimp and dce.
Result<bool> AlignOnes(Computation& computation, PassContext& context);

}  // namespace hlo
