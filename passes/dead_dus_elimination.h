// dead-dus-elimination: updates that nobody reads (passes.md §2.2).
//
// Requires nothing. Preserves the flat call graph, fusions and layouts.
// Changes: a dynamic-update-slice at constant places whose users are all slices beside the updated part is
// replaced by its operand; what made the update stays for dce. Left alone: control edges, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDeadDusElimination(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
