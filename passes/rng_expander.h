// rng-expander: rng as Philox bits and arithmetic (passes.md §4.10, ops-structured §8.1).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: rng becomes the custom-call GetRngSeed, rng-get-and-update-state and Philox blocks, turned into
// the distribution. The key mixes seed, name of the instruction, replica and partition as the evaluator does,
// so uniform numbers are those rng itself gives; normal numbers may differ by rounding, since they are
// computed in f32 (f64 for f64). Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunRngExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
