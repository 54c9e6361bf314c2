// batch-dot-simplification: dots lose batch dimensions of size 1 (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: operands are reshaped to lack their batch dimensions of size 1, and the result is reshaped back.
// Left alone: other dimensions of size 1, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool IsTrivialBatch(const Instruction& dot, int64_t side, int64_t d) {
  const auto& attrs = dot.attr<DotAttrs>();
  return dot.operand(side)->shape().dim(d) == 1 &&
         llvm::is_contained(side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims, d);
}

bool HasTrivialBatch(const Instruction& dot) {
  return llvm::any_of(dot.attr<DotAttrs>().lhs_batch_dims,
                      [&](int64_t d) { return IsTrivialBatch(dot, 0, d); });
}

Result<bool> RunBatchDotSimplification(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return inst.kind() == OpKind::Dot && HasStaticArrays(inst) && HasTrivialBatch(inst);
      },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        return MakeDotWithoutDims(make, *inst,
                                  [&](int64_t side, int64_t d) { return IsTrivialBatch(*inst, side, d); });
      });
}

}  // namespace

HLO_DEFINE_PASS(BatchDotSimplification, NoPassOptions);

}  // namespace hlo
