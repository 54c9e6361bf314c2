#include "passes/conditional_to_select.h"

#include "passes/rewrite/conditional_edit.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

/// Applied to single elements, not run once in its place.
bool IsEmbedded(const Computation& computation) {
  return llvm::any_of(computation.callers(), [](const Instruction* caller) {
    const OpCategory category = caller->info().category;
    return category != OpCategory::Control && category != OpCategory::Async && category != OpCategory::Custom;
  });
}

}  // namespace

Result<bool> RunConditionalToSelect(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (c->callers().empty() || !IsEmbedded(*c)) continue;
    const std::vector<Instruction*> conditionals = c->InstructionsOf(OpKind::Conditional);
    for (Instruction* inst : conditionals) {
      if (!MayRunAllBranches(*inst) || !context.TakeRewrite()) continue;
      ReplaceWith(inst, SelectBetweenBranches(inst));
      c->Remove(inst);
      changed = true;
    }
  }
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

HLO_DEFINE_PASS(ConditionalToSelect, NoPassOptions);

}  // namespace hlo
