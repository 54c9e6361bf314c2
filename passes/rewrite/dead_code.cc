#include "passes/rewrite/dead_code.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/reachable.h"
#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

/// A dead `Sharding` custom-call still says how its operand is spread, where others see that operand.
bool AnnotatesOperand(const Instruction& inst) {
  if (inst.kind() != OpKind::CustomCall || inst.operand_count() != 1 ||
      inst.attr<CustomCallAttrs>().custom_call_target != "Sharding")
    return false;
  const Instruction& operand = *inst.operand(0);
  return operand.IsRoot() || operand.kind() == OpKind::Parameter || operand.users().size() > 1;
}

bool IsCollective(const Instruction& inst) {
  return inst.info().Is(kGrouped) || inst.kind() == OpKind::CollectivePermute;
}

bool ConstrainsLayout(const Attrs& attrs) {
  if (const auto* a = attrs.GetIf<AllReduceAttrs>()) return a->constrain_layout;
  if (const auto* a = attrs.GetIf<AllGatherAttrs>()) return a->constrain_layout;
  if (const auto* a = attrs.GetIf<ReduceScatterAttrs>()) return a->constrain_layout;
  if (const auto* a = attrs.GetIf<AllToAllAttrs>()) return a->constrain_layout;
  return false;
}

/// All it does besides computing its value is to wait for other devices.
bool OnlyWaits(const Instruction& inst) {
  const auto does_more = [](const Instruction& inner) {
    if (inner.kind() == OpKind::While || !HasSideEffect(inner)) return false;
    return !IsCollective(inner) || inner.info().Is(kSideEffect) || ConstrainsLayout(inner.attrs());
  };
  return !does_more(inst) && llvm::none_of(inst.callees(), [&](const Computation* callee) {
    return AnyInstruction(*callee, does_more);
  });
}

bool IsRemovable(const Instruction& inst, const DeadCodeOptions& options) {
  if (!inst.users().empty() || inst.IsRoot()) return false;
  if (IsDead(inst)) return !AnnotatesOperand(inst);
  if (!options.waiting_collectives) return false;
  return (IsCollective(inst) || inst.kind() == OpKind::While) && !HasControlEdges(inst) && OnlyWaits(inst);
}

/// Users stand after operands in post-order, so one walk backwards suffices.
bool RemoveDeadInstructions(Computation& computation, const DeadCodeOptions& options, PassContext& context) {
  if (llvm::none_of(computation.instructions(),
                    [&](const Instruction* inst) { return IsRemovable(*inst, options); }))
    return false;
  bool changed = false;
  const std::vector<Instruction*> order = computation.PostOrder();
  for (Instruction* inst : llvm::reverse(order)) {
    if (!IsRemovable(*inst, options)) continue;
    if (!context.TakeRewrite()) break;
    computation.Remove(inst);
    changed = true;
  }
  return changed;
}

bool MayLoseParameters(const Instruction& caller, const DeadCodeOptions& options) {
  if (caller.kind() == OpKind::Fusion) return caller.attr<FusionAttrs>().output_to_operand_aliasing.empty();
  return caller.kind() == OpKind::Call && options.call_parameters && !caller.attr<CallAttrs>().is_composite;
}

/// Drops parameters that nothing in the computation uses, and the callers' operands with them.
bool RemoveDeadParameters(Computation& callee, const DeadCodeOptions& options, PassContext& context) {
  if (callee.callers().empty() || callee.IsEntry()) return false;
  const auto is_dead = [](const Instruction* p) { return p->users().empty() && !p->IsRoot(); };
  if (llvm::none_of(callee.parameters(), is_dead)) return false;
  for (const Instruction* caller : callee.callers())
    if (!MayLoseParameters(*caller, options)) return false;
  if (!context.TakeRewrite()) return false;
  llvm::SmallVector<bool, 16> dead;
  for (const Instruction* p : callee.parameters()) dead.push_back(is_dead(p));
  callee.RemoveParameters([&](const Instruction& p) { return is_dead(&p); });
  llvm::SmallSetVector<Instruction*, 8> dropped;
  for (Instruction* caller : callee.callers()) {
    llvm::SmallVector<Instruction*, 8> operands;
    for (size_t i = 0; i < dead.size(); ++i) {
      Instruction* operand = caller->operand(static_cast<int64_t>(i));
      if (dead[i])
        dropped.insert(operand);
      else
        operands.push_back(operand);
    }
    caller->SetOperands(operands);
  }
  // Removing one may remove others of them too.
  llvm::DenseSet<Instruction*> gone;
  for (Instruction* operand : dropped)
    if (!gone.contains(operand) && IsRemovable(*operand, options))
      RemoveIfDead(operand, [&](Instruction* removed) { gone.insert(removed); });
  return true;
}

/// The outputs of a multi-output fusion that somebody reads; nothing if all are, or one cannot tell.
std::optional<llvm::SmallVector<bool, 8>> ReadOutputs(const Instruction& fusion) {
  if (fusion.kind() != OpKind::Fusion || !fusion.shape().IsTuple() || fusion.IsRoot() ||
      fusion.shape().tuple_size() < 2 || fusion.callee()->root()->kind() != OpKind::Tuple ||
      fusion.callee()->callers().size() != 1 || fusion.users().empty() ||
      !fusion.attr<FusionAttrs>().output_to_operand_aliasing.empty() || fusion.extras().sharding)
    return std::nullopt;
  llvm::SmallVector<bool, 8> read(static_cast<size_t>(fusion.shape().tuple_size()), false);
  for (const Instruction* user : fusion.users()) {
    if (user->kind() != OpKind::GetTupleElement) return std::nullopt;
    read[static_cast<size_t>(user->attr<GetTupleElementAttrs>().index)] = true;
  }
  if (llvm::all_of(read, [](bool r) { return r; })) return std::nullopt;
  return read;
}

/// Drops outputs that nobody reads; a single one left becomes the plain result.
bool RemoveDeadOutputs(Instruction* fusion, PassContext& context) {
  const auto read = ReadOutputs(*fusion);
  if (!read || !context.TakeRewrite()) return false;
  Computation& fused = *fusion->callee();
  // All of it is one loop: edges order nothing, and what has them would stay.
  for (Instruction* inst : fused.instructions()) inst->DropControlEdges();
  Instruction* tuple = fused.root();
  llvm::SmallVector<Instruction*, 8> kept;
  llvm::SmallVector<Shape, 8> shapes;
  llvm::SmallVector<int64_t, 8> new_index;
  for (size_t i = 0; i < read->size(); ++i) {
    new_index.push_back(static_cast<int64_t>(kept.size()));
    if (!(*read)[i]) continue;
    kept.push_back(tuple->operand(static_cast<int64_t>(i)));
    shapes.push_back(fusion->shape().tuple_shape(static_cast<int64_t>(i)));
  }
  const bool single = kept.size() == 1;
  fused.set_root(single ? kept[0] : Maker(tuple).Tuple(kept));
  SetStructure(*fusion, single ? shapes[0] : Shape::MakeTuple(shapes));
  RemoveIfDead(tuple);
  const llvm::SmallVector<Instruction*, 8> users(fusion->users().begin(), fusion->users().end());
  for (Instruction* user : users) {
    if (single) {
      ReplaceAndRemove(user, fusion);
    } else {
      int64_t& index = user->mutable_attrs().Mutable<GetTupleElementAttrs>().index;
      index = new_index[static_cast<size_t>(index)];
    }
  }
  return true;
}

bool RemoveDeadOutputs(Computation& computation, PassContext& context) {
  bool changed = false;
  for (Instruction* fusion : computation.InstructionsOf(OpKind::Fusion))
    changed |= RemoveDeadOutputs(fusion, context);
  return changed;
}

}  // namespace

Result<bool> RemoveDeadCode(Module& module, PassContext& context, const DeadCodeOptions& options) {
  bool changed = false, again = true;
  const std::vector<Computation*> computations = context.AllComputations(module);
  while (again) {
    again = false;
    // Callers first: what a fusion no longer needs makes its operands dead.
    for (Computation* c : llvm::reverse(computations)) {
      HLO_CHECK_OK(context.CheckInterrupt());
      changed |= RemoveDeadInstructions(*c, options, context);
      changed |= RemoveDeadOutputs(*c, context);
      if (!RemoveDeadParameters(*c, options, context)) continue;
      changed = true;
      // Parameters of a fusion around it may be dead now.
      again |= llvm::any_of(c->callers(), [](const Instruction* call) { return call->parent()->IsFusion(); });
    }
  }
  changed |= RemoveUnreachableComputations(module) != 0;
  return changed;
}

}  // namespace hlo
