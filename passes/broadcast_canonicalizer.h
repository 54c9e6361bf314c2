// broadcast_canonicalizer: broadcasts keep the order of dimensions (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: a broadcast with unsorted dimensions becomes one with sorted dimensions and a transpose.
// Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunBroadcastCanonicalizer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
