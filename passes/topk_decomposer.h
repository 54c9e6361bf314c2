// topk-decomposer: top-k as sort and slice (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: topk, and custom-call "TopK" of this form, become a sort of values and positions in total order
// and slices of the first k. Stable top-k of bf16 along at most 2^16 elements sorts single s32 keys that
// hold value and position. Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunTopkDecomposer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
