// zero_sized_hlo_elimination: arrays without elements become constants (passes.md §2.2).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: an instruction without side effect whose result is an array without elements becomes a constant.
// Parameters stay, but nobody reads them; constants without elements that nobody reads go. Left alone:
// constants, dynamic shapes, asynchronous operations.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

bool MakesNothing(const Instruction& inst) {
  const Shape& shape = inst.shape();
  if (!shape.IsArray() || shape.ElementCount() != 0 || shape.HasDynamicDimension()) return false;
  if (inst.kind() == OpKind::Parameter || inst.kind() == OpKind::Constant) return false;
  return inst.info().category != OpCategory::Async && !HasSideEffect(inst);
}

/// Parameters have to stay; whoever reads one reads a constant instead.
bool ForgetParameters(Computation& computation, PassContext& context) {
  bool changed = false;
  for (Instruction* p : computation.parameters()) {
    const Shape& shape = p->shape();
    if (!shape.IsArray() || shape.ElementCount() != 0 || shape.HasDynamicDimension() ||
        (p->users().empty() && !p->IsRoot()))
      continue;
    if (!context.TakeRewrite()) break;
    ReplaceWith(p, Maker(p).Constant(Literal::Zeros(shape)));
    changed = true;
  }
  return changed;
}

/// What was made for instructions that themselves are replaced.
void DropUnread(Computation& computation) {
  for (Instruction* constant : computation.InstructionsOf(OpKind::Constant))
    if (constant->shape().IsArray() && constant->shape().ElementCount() == 0 && IsDead(*constant))
      computation.Remove(constant);
}

Result<bool> RunZeroSizedHloElimination(Module& module, const NoPassOptions&, PassContext& context) {
  HLO_TRY(bool changed,
          ExpandMatches(module, context, MakesNothing, [](Instruction* inst) -> Result<Instruction*> {
            return Maker(inst).Constant(Literal::Zeros(inst->shape()));
          }));
  for (Computation* c : context.Computations(module)) changed |= ForgetParameters(*c, context);
  if (changed)
    for (Computation* c : context.Computations(module)) DropUnread(*c);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ZeroSizedHloElimination, NoPassOptions);

}  // namespace hlo
