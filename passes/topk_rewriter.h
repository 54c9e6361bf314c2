// topk-rewriter: sorts of which only the first elements are read as custom-call "TopK" (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: a descending sort of an array, alone or with the positions along the sorted dimension, which is
// the first or last one and of which all users read the first k elements, becomes custom-call "TopK" on a
// matrix, which takes floats in total order. Left alone: types other than those in `types`, comparators in
// another order, those not in total order where floats are strict.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct TopkRewriterOptions {
  std::vector<std::string> types = {"f32"};  // for which there is an implementation of the call
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunTopkRewriter(Module& module, const TopkRewriterOptions& options, PassContext& context);

}  // namespace hlo
