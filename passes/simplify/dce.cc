// dce: removes what nothing needs (passes.md §4.3).
//
// Requires nothing. Preserves everything but the schedule, which loses the removed instructions.
// Changes: dead instructions go, and with them operands that only they used; outputs of multi-output fusions
// that nobody reads; parameters of fused computations that nothing uses; computations the entry does not
// reach. Left alone: entry parameters; `Sharding` custom-calls on a root, a parameter or a value with other
// users, which annotate that value; fusions that declare aliases of operands.
#include "passes/pass.h"
#include "passes/rewrite/dead_code.h"

namespace hlo {
namespace {

struct DceOptions {
  bool remove_cross_partition_collective_ops = false;
  bool use_call_analysis = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&DceOptions::remove_cross_partition_collective_ops>(
        "remove_cross_partition_collective_ops",
        "collectives that nobody reads go although they wait for others"),
    PassOption<&DceOptions::use_call_analysis>(
        "use_call_analysis", "parameters that no computation reads go from calls too, not only from fusions"),
};

llvm::ArrayRef<PassOptionRow> DceOptions::Rows() { return kRows; }

Result<bool> RunDce(Module& module, const DceOptions& options, PassContext& context) {
  return RemoveDeadCode(module, context,
                        {.waiting_collectives = options.remove_cross_partition_collective_ops,
                         .call_parameters = options.use_call_analysis});
}

}  // namespace

HLO_DEFINE_PASS(Dce, DceOptions);

}  // namespace hlo
