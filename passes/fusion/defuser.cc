#include "passes/fusion/defuser.h"

#include "passes/analysis/inlined_size.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/inline_all.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

bool SameOrder(const Shape& a, const Shape& b) {
  return !a.IsArray() || !b.IsArray() || !a.has_layout() || !b.has_layout() ||
         a.layout().minor_to_major == b.layout().minor_to_major;
}

/// Bitcasts in the fusion and behind it read bytes as parameters and results say that they lie: where these
/// lie otherwise, copies come between.
bool MatchLayouts(Instruction* fusion, PassContext& context) {
  const Computation& fused = *fusion->callee();
  bool changed = false;
  const bool reads_bytes = !fused.InstructionsOf(OpKind::Bitcast).empty();
  for (int64_t i = 0; reads_bytes && i < fusion->operand_count(); ++i) {
    const Shape& inside = fused.parameter(i)->shape();
    if (SameOrder(inside, fusion->operand(i)->shape())) continue;
    if (!context.TakeRewrite()) return changed;
    fusion->SetOperand(i, Maker(fusion).AddWithShape(OpKind::Copy, inside, {fusion->operand(i)}));
    changed = true;
  }
  const Shape outside = fusion->shape();
  const bool same = SameOrder(fused.root()->shape(), outside) || !LayoutIsObserved(*fusion);
  if (same || !context.TakeRewrite()) return changed;
  const llvm::SmallVector<Instruction*, 4> users(fusion->users());
  fusion->set_shape(fused.root()->shape());
  Instruction* copy = Maker(*fusion->parent(), fusion).AddWithShape(OpKind::Copy, outside, {fusion});
  for (Instruction* user : users) user->ReplaceOperand(fusion, copy);
  if (fusion->IsRoot()) fusion->parent()->set_root(copy);
  return true;
}

}  // namespace

Result<bool> RunDefuser(Module& module, const NoPassOptions&, PassContext& context) {
  const auto is_inlined = [&](const Instruction& inst) {
    return inst.kind() == OpKind::Fusion && context.Allows(*inst.parent());
  };
  HLO_CHECK_OK(CheckInlinedSize(module, is_inlined, module.entry() ? module.entry()->loc() : Loc()));
  bool changed = false;
  for (Computation* c : context.Computations(module, /*with_fusions=*/true))
    for (Instruction* fusion : c->InstructionsOf(OpKind::Fusion)) changed |= MatchLayouts(fusion, context);
  InlineAll(
      module, is_inlined, [&](Computation&, Instruction*) { changed = true; },
      [&] { return context.TakeRewrite(); });
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

HLO_DEFINE_PASS(Defuser, NoPassOptions);

}  // namespace hlo
