// zero_sized_hlo_elimination: arrays without elements become constants (passes.md §2.2).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: an instruction without side effect whose result is an array without elements becomes a constant.
// Parameters stay, but nobody reads them. Left alone: constants, dynamic shapes, asynchronous operations.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunZeroSizedHloElimination(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
