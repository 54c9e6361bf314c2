// sort-iota-fusion: sorts make the positions that they sort themselves (passes.md §2.5).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: a sort and the iotas among its operands become one input fusion; an iota that others read too is
// made once more for the sort. Left alone: sorts with control edges or dynamic dimensions, and those of
// computations that are applied element by element.
#include "passes/analysis/fusion_facts.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/fuse.h"

namespace hlo {
namespace {

bool IsPosition(const Instruction* operand) { return operand->kind() == OpKind::Iota; }

bool SortsPositions(const Instruction& sort) {
  return llvm::any_of(sort.operands(), IsPosition) && !HasControlEdges(sort) && HasStaticShapes(sort);
}

void Fuse(Instruction* sort) {
  Instruction* fusion = WrapInFusion(sort, FusionKind::Input);
  for (;;) {
    Instruction* const* iota = llvm::find_if(fusion->operands(), IsPosition);
    if (iota == fusion->operands().end()) return;
    Instruction* made = *iota;
    FuseProducer(fusion, made);
    RemoveIfDead(made);
  }
}

Result<bool> RunSortIotaFusion(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (!RunsOnWholeValues(*c)) continue;
    for (Instruction* sort : c->InstructionsOf(OpKind::Sort)) {
      if (!SortsPositions(*sort)) continue;
      if (!context.TakeRewrite()) return changed;
      Fuse(sort);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SortIotaFusion, NoPassOptions);

}  // namespace hlo
