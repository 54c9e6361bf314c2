// host-offload-legalize, host-offloading-prepare-elide-move-to-host: programs in the form that host-offloader
// takes (passes.md §2.5).
//
// Require nothing. Preserve everything but the schedule.
// Change:
//  - host-offload-legalize: copies of what MoveToHost or bitcasts after it made come before that call, and
//    copies before MoveToDevice behind it, so that layouts change on the device. A broadcast into which
//    several dynamic-update-slices write gets made once for each.
//  - host-offloading-prepare-elide-move-to-host: computations that run on the host's thread read what
//    MoveToHost would move for them, as their start moves it.
// Left alone: values with other readers, other memory spaces, calls and copies with control edges.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlo {
namespace {

bool Calls(const Instruction& inst, llvm::StringRef target) {
  const auto* call = inst.attrs().GetIf<CustomCallAttrs>();
  return call && call->custom_call_target == target && inst.operand_count() == 1 && inst.shape().IsArray() &&
         inst.shape() == inst.operand(0)->shape() && !HasControlEdges(inst);
}

bool IsReadOnce(const Instruction& inst) { return inst.users().size() == 1 && !inst.IsRoot(); }

bool ChangesLayout(const Instruction& inst) {
  return inst.kind() == OpKind::Copy && inst.shape().IsArray() && !HasControlEdges(inst) &&
         SpaceOf(inst.shape()) == SpaceOf(inst.operand(0)->shape());
}

/// The same call of another value.
Instruction* CallLike(Maker& make, const Instruction& call, Instruction* value) {
  Instruction* made = make.AddWithShape(OpKind::CustomCall, value->shape(), {value}, call.attrs());
  if (call.has_extras()) made->MutableExtras().frontend_attributes = call.extras().frontend_attributes;
  return made;
}

/// copy(MoveToHost(x)) as MoveToHost(copy(x)).
bool CopiesMoved(const Instruction& inst) {
  return ChangesLayout(inst) && Calls(*inst.operand(0), "MoveToHost") && IsReadOnce(*inst.operand(0));
}
Instruction* MoveCopied(Instruction* copy) {
  Maker make(copy);
  const Instruction& move = *copy->operand(0);
  return CallLike(make, move, make.AddWithShape(OpKind::Copy, copy->shape(), {move.operand(0)}));
}
/// MoveToDevice(copy(x)) as copy(MoveToDevice(x)).
bool MovesCopied(const Instruction& inst) {
  return Calls(inst, "MoveToDevice") && ChangesLayout(*inst.operand(0)) && IsReadOnce(*inst.operand(0));
}
Instruction* CopyMoved(Instruction* move) {
  Maker make(move);
  return make.AddWithShape(OpKind::Copy, move->shape(),
                           {CallLike(make, *move, move->operand(0)->operand(0))});
}

bool WritesInto(const Instruction& inst, const Instruction& value) {
  return inst.kind() == OpKind::DynamicUpdateSlice && inst.operand(0) == &value;
}

/// Every dynamic-update-slice but the first has a broadcast of its own to write into.
bool SplitBroadcasts(Computation& computation, PassContext& context) {
  bool changed = false;
  for (Instruction* value : computation.InstructionsOf(OpKind::Broadcast)) {
    llvm::SmallVector<Instruction*, 4> writers;
    for (Instruction* user : value->users())
      if (WritesInto(*user, *value)) writers.push_back(user);
    for (Instruction* writer : llvm::ArrayRef(writers).drop_front(writers.empty() ? 0 : 1)) {
      if (!context.TakeRewrite()) return changed;
      writer->SetOperand(0, CloneWith(*value, computation, value->operands()));
      changed = true;
    }
  }
  return changed;
}

Result<bool> RunHostOffloadLegalize(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (bool again = true; again; changed |= again) {
    HLO_TRY(again, ExpandMatches(module, context, CopiesMoved, [](Instruction* copy) -> Result<Instruction*> {
              return CopiesMoved(*copy) ? MoveCopied(copy) : nullptr;
            }));
    HLO_TRY(const bool behind,
            ExpandMatches(module, context, MovesCopied, [](Instruction* move) -> Result<Instruction*> {
              return MovesCopied(*move) ? CopyMoved(move) : nullptr;
            }));
    again |= behind;
  }
  const auto moves = [](const Instruction* i) { return Calls(*i, "MoveToHost"); };
  const bool any_moves = llvm::any_of(module.computations(), [&](const auto& any) {
    return llvm::any_of(any->InstructionsOf(OpKind::CustomCall), moves);
  });
  if (!any_moves) return changed;
  for (Computation* c : context.Computations(module)) changed |= SplitBroadcasts(*c, context);
  return changed;
}

Result<bool> RunHostOffloadingElideMoveToHost(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module))
    for (Instruction* start : c->InstructionsOf(OpKind::AsyncStart)) {
      if (start->attr<AsyncStartAttrs>().async_execution_thread != "host") continue;
      for (int64_t i = 0; i < start->operand_count(); ++i) {
        Instruction* move = start->operand(i);
        if (!Calls(*move, "MoveToHost")) continue;
        if (!context.TakeRewrite()) return changed;
        start->SetOperand(i, move->operand(0));
        if (move->users().empty() && !move->IsRoot()) c->Remove(move);
        changed = true;
      }
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(HostOffloadLegalize, NoPassOptions);
HLO_DEFINE_PASS(HostOffloadingElideMoveToHost, NoPassOptions);

}  // namespace hlo
