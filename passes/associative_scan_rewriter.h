// associative-scan-rewriter: associative scans as prefix reductions (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: a scan with is_associative=true of one array and one carry whose body applies one commutative
// operation becomes a reduce-window over all elements up to each one, combined with the initial carry;
// reduce-window-rewriter makes a tree of a long one. Left alone: other scans, empty ones, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunAssociativeScanRewriter(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
