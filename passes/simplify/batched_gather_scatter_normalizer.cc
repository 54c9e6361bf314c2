// batched_gather_scatter_normalizer: gather and scatter without batching dimensions (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: explicit batching dimensions become columns of the indices that count through them. Left alone:
// dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/batching_dims.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

Result<bool> RunBatchedGatherScatterNormalizer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return HasBatchingDims(inst) && HasStaticShapes(inst); },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        return WithoutBatchingDims(make, inst);
      });
}

}  // namespace

HLO_DEFINE_PASS(BatchedGatherScatterNormalizer, NoPassOptions);

}  // namespace hlo
