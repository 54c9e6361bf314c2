// cse: merges instructions that compute the same (passes.md §4.2).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: of equal constants and equal instructions the first in post-order stays; equal roots of a
// multi-output fusion are read from one place. Metadata does not take part. Left alone: instructions without
// operands (constants, partition-id and replica-id apart), with side effects or control edges, halves of
// asynchronous pairs, and what carries the frontend attribute MUST_FUSE.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct CseOptions {
  bool is_layout_sensitive = false;
  bool ignore_control_dependencies = false;
  bool only_fusion_computations = false;  // bodies of fusions only
  bool only_scalars = false;              // leave arrays alone
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunCse(Module& module, const CseOptions& options, PassContext& context);

}  // namespace hlo
