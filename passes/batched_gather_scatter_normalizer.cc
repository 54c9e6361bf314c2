#include "passes/batched_gather_scatter_normalizer.h"

#include "passes/rewrite/batching_dims.h"
#include "passes/rewrite/expander.h"

namespace hlo {

Result<bool> RunBatchedGatherScatterNormalizer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return HasBatchingDims(inst) && HasStaticShapes(inst); },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        return WithoutBatchingDims(make, inst);
      });
}

HLO_DEFINE_PASS(BatchedGatherScatterNormalizer, NoPassOptions);

}  // namespace hlo
