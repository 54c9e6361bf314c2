// dynamic_padder: arrays of bounded dynamic size as arrays of the bound, with their sizes (passes.md §2.7).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: run-time sizes are inferred through the program and computed as s32 scalars. Instructions with
// dynamic dimensions become instructions on static arrays; where padding would show, it is filled first (with
// the identity of a reduction, zeros of a contraction, indices out of range of a scatter, a flag behind all
// others in a sort), or the valid parts are moved together (concatenate, reverse, reshape). Values stay
// dynamic where they pass parameters, tuples, calls, loops and conditionals, and at the root: custom-calls
// "PadToStatic" and "SliceToDynamic" stand at these boundaries. Left alone between such boundaries:
// instructions that dynamic_padder_ops.cc has no row for, and unbounded dimensions.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDynamicPadder(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
