// dce: removes what nothing needs (passes.md §4.3).
//
// Requires nothing. Preserves everything; a schedule loses the removed instructions.
// Changes: dead instructions go, and with them operands that only they used; outputs of multi-output fusions
// that nobody reads; parameters of fused computations that nothing uses; computations the entry does not
// reach. Left alone: entry parameters; `Sharding` custom-calls on a root, a parameter or a value with other
// users, which annotate that value; fusions that declare aliases of operands.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct DceOptions {
  bool remove_cross_partition_collective_ops = false;
  bool use_call_analysis = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunDce(Module& module, const DceOptions& options, PassContext& context);

}  // namespace hlo
