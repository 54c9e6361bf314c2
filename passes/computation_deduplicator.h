// computation-deduplicator: identical computations become one (passes.md §2.2).
//
// Requires nothing. Preserves layouts, fusions, canonical dots and the schedule.
// Changes: callers of a computation that equals an earlier one, shapes with layouts included, call that. With
// mark_fusion_duplications nothing is merged, but metadata of fusions with equal bodies names the first
// (`deduplicated_name`). Left alone: the entry, bodies of fusions and of asynchronous operations.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct ComputationDeduplicatorOptions {
  bool mark_fusion_duplications = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunComputationDeduplicator(Module& module, const ComputationDeduplicatorOptions& options,
                                        PassContext& context);

}  // namespace hlo
