#include "passes/batch_dot_simplification.h"

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

}  // namespace

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

HLO_DEFINE_PASS(BatchDotSimplification, NoPassOptions);

}  // namespace hlo
