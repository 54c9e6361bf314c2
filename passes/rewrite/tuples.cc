#include "passes/rewrite/tuples.h"

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

/// The value all of whose elements the tuple lists in order.
Instruction* WholeValue(const Instruction& tuple) {
  if (tuple.operands().empty()) return nullptr;
  Instruction* whole = nullptr;
  for (int64_t i = 0; i < tuple.operand_count(); ++i) {
    const Instruction* element = tuple.operand(i);
    if (element->kind() != OpKind::GetTupleElement || element->attr<GetTupleElementAttrs>().index != i ||
        HasControlEdges(*element) || (whole && element->operand(0) != whole))
      return nullptr;
    whole = element->operand(0);
  }
  return whole->shape() == tuple.shape() ? whole : nullptr;
}

bool ShardingsAgree(const Instruction& a, const Instruction& b) {
  if (!a.extras().sharding || !b.extras().sharding) return true;
  return *a.extras().sharding == *b.extras().sharding;
}

/// What the instruction is a roundabout way of saying; null if it is not.
Instruction* SameValue(const Instruction& inst) {
  if (inst.kind() == OpKind::GetTupleElement) {
    const Instruction* tuple = inst.operand(0);
    if (tuple->kind() != OpKind::Tuple || HasControlEdges(inst)) return nullptr;
    if (IsSharedStart(inst)) return nullptr;
    Instruction* element = tuple->operand(inst.attr<GetTupleElementAttrs>().index);
    return element->shape() == inst.shape() ? element : nullptr;
  }
  return inst.kind() == OpKind::Tuple && !HasControlEdges(inst) ? WholeValue(inst) : nullptr;
}

/// The same, unless the two say different things about how the value is partitioned.
Instruction* Simpler(const Instruction& inst) {
  Instruction* value = SameValue(inst);
  return value && ShardingsAgree(inst, *value) ? value : nullptr;
}

bool SimplifyIn(Computation& computation, PassContext& context) {
  if (computation.module()->CountOf(OpKind::Tuple) == 0) return false;  // either rewrite takes one
  llvm::SmallVector<Instruction*, 8> candidates;
  for (Instruction* inst : computation.instructions())
    if (inst->kind() == OpKind::GetTupleElement || inst->kind() == OpKind::Tuple) candidates.push_back(inst);
  if (llvm::none_of(candidates, [](const Instruction* inst) { return Simpler(*inst) != nullptr; }))
    return false;
  // Operands before users, so that chains collapse in one walk.
  bool changed = false;
  llvm::SmallVector<Instruction*, 16> replaced;
  const std::vector<Instruction*> order = computation.PostOrder();
  for (Instruction* inst : order) {
    Instruction* simpler = Simpler(*inst);
    if (!simpler || (inst->users().empty() && !inst->IsRoot())) continue;
    if (!context.TakeRewrite({}, *inst, *simpler)) break;
    ReplaceWith(inst, simpler);
    replaced.push_back(inst);
    changed = true;
  }
  llvm::DenseSet<Instruction*> gone;
  for (Instruction* inst : llvm::reverse(replaced))
    if (!gone.contains(inst)) RemoveIfDead(inst, [&](Instruction* dead) { gone.insert(dead); });
  return changed;
}

}  // namespace

Result<bool> SimplifyTuples(Module& module, PassContext& context, bool exclude_entry) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (exclude_entry && c->IsEntry()) continue;
    HLO_CHECK_OK(context.CheckInterrupt());
    changed |= SimplifyIn(*c, context);
  }
  return changed;
}

}  // namespace hlo
