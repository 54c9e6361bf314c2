// dynamic-index-splitter: dynamic slices take scalar indices (passes.md §2.1).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: the vector of start indices of a dynamic-slice or dynamic-update-slice becomes one scalar per
// dimension; those of scalars become their operand or update.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

int64_t FirstIndex(const Instruction& inst) { return inst.kind() == OpKind::DynamicSlice ? 1 : 2; }

bool HasIndexVector(const Instruction& inst) {
  if (inst.kind() != OpKind::DynamicSlice && inst.kind() != OpKind::DynamicUpdateSlice) return false;
  if (inst.operand(0)->shape().rank() == 0) return true;
  return inst.operand_count() == FirstIndex(inst) + 1 && inst.operand(FirstIndex(inst))->shape().rank() == 1;
}

Result<Instruction*> ReplacementFor(Instruction* inst) {
  const int64_t first = FirstIndex(*inst);
  if (inst->operand(0)->shape().rank() == 0) return inst->operand(first - 1);
  Maker make(inst);
  llvm::SmallVector<Instruction*, 6> operands(inst->operands().take_front(static_cast<size_t>(first)));
  for (int64_t d = 0; d < inst->operand(0)->shape().rank(); ++d)
    operands.push_back(make.Reshape(make.SliceDim(inst->operand(first), 0, d, d + 1), Dims()));
  return make.AddWithShape(inst->kind(), inst->shape(), operands, inst->attrs());
}

Result<bool> RunDynamicIndexSplitter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, HasIndexVector, ReplacementFor);
}

}  // namespace

HLO_DEFINE_PASS(DynamicIndexSplitter, NoPassOptions);

}  // namespace hlo
