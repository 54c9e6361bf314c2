// dus-accumulator-zero-init-elimination: what a loop fills completely need not be filled before (passes.md
// §2.5).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: an element of a loop that starts as a splat constant, and whose only use in the loop is to be the
// operand of a dynamic-update-slice at the induction variable, starts as custom-call `AllocateBuffer`,
// whatever lies there, if the updates cover all of it.
// Left alone: loops of unknown trip count or induction variable, updates that overlap or leave gaps.
#include "passes/loops/filled_elements.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

bool IsFilledByLoop(const TupleLoop& loop, const LoopReads& reads, const LoopCount& trips, int64_t element) {
  const Instruction* start = loop.InitElement(element);
  return start && start->kind() == OpKind::Broadcast && start->operand(0)->kind() == OpKind::Constant &&
         AsFilledByLoop(loop, reads, trips, element).update;
}

/// The loop starts with an array of any values.
void Unset(const TupleLoop& loop, int64_t element) {
  Instruction *init = loop.init(), *old = loop.InitElement(element);
  Maker make(init);
  CustomCallAttrs attrs;
  attrs.custom_call_target = "AllocateBuffer";
  Instruction* any = make.AddWithShape(OpKind::CustomCall, old->shape(), {}, std::move(attrs));
  llvm::SmallVector<Instruction*, 8> elements(init->operands());
  elements[static_cast<size_t>(element)] = any;
  loop.loop->SetOperand(0, make.AddWithShape(OpKind::Tuple, init->shape(), elements));
  RemoveIfDead(init);
}

Result<bool> RunDusAccumulatorZeroInitElimination(Module& module, const NoPassOptions&,
                                                  PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module))
    for (Instruction* inst : c->InstructionsOf(OpKind::While)) {
      HLO_CHECK_OK(context.CheckInterrupt());
      const auto loop = AsTupleLoop(*inst);
      const auto trips = loop ? CountTrips(*loop) : std::nullopt;
      if (!trips || trips->induction < 0) continue;
      const LoopReads reads(*loop);
      for (int64_t i = 0; i < loop->size(); ++i) {
        if (!IsFilledByLoop(*loop, reads, *trips, i) || !context.TakeRewrite()) continue;
        Unset(*loop, i);
        changed = true;
      }
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(DusAccumulatorZeroInitElimination, NoPassOptions);

}  // namespace hlo
