// batched_gather_scatter_normalizer: gather and scatter without batching dimensions (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: explicit batching dimensions become columns of the indices that count through them. Left alone:
// dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunBatchedGatherScatterNormalizer(Module& module, const NoPassOptions& options,
                                               PassContext& context);

}  // namespace hlo
