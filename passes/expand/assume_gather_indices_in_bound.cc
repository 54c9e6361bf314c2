// AssumeGatherIndicesInBoundRewriteToCopy: promises about indices that nobody uses become copies (passes.md
// §2.2).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: custom-calls `AssumeGatherIndicesInBound` and `GatherScatterIndicesBitpacked` become copies of
// their operand.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

constexpr llvm::StringRef kTargets[] = {"AssumeGatherIndicesInBound", "GatherScatterIndicesBitpacked"};

bool IsPromise(const Instruction& inst) {
  return inst.kind() == OpKind::CustomCall && inst.operand_count() == 1 && inst.shape().IsArray() &&
         llvm::is_contained(kTargets, inst.attr<CustomCallAttrs>().custom_call_target) &&
         Compatible(inst.shape(), inst.operand(0)->shape());
}

Result<bool> RunAssumeGatherIndicesInBound(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    llvm::SmallVector<Instruction*, 8> promises;
    for (Instruction* inst : c->instructions())
      if (IsPromise(*inst)) promises.push_back(inst);
    for (Instruction* inst : promises) {
      if (!context.TakeRewrite()) break;
      ReplaceWith(inst, Maker(inst).AddWithShape(OpKind::Copy, inst->shape(), {inst->operand(0)}));
      c->Remove(inst);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(AssumeGatherIndicesInBound, NoPassOptions);

}  // namespace hlo
