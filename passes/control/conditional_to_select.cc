// conditional-to-select: no conditionals in computations that run per element (passes.md §4.6).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: conditionals inside the computations of map, reduce, reduce-window, scatter, select-and-scatter,
// sort and the like become all of their branches and a select. Left alone: branches with side effects,
// control edges or loops; conditionals anywhere else.
#include "passes/pass.h"
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

}  // namespace

HLO_DEFINE_PASS(ConditionalToSelect, NoPassOptions);

}  // namespace hlo
