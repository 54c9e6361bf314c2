#include "passes/rewrite/expander.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// The value in the layouts of `shape`, through copies where they differ.
Instruction* InLayout(Maker& make, Instruction* value, const Shape& shape) {
  if (value->shape() == shape) return value;
  // How wide elements are is no matter of order: no copy changes it.
  if (shape.IsArray() && value->shape().IsArray() && value->users().empty() && value->shape().has_layout() &&
      shape.has_layout() && shape.element_type() == value->shape().element_type()) {
    Layout layout = value->shape().layout();
    layout.element_size_bits = shape.layout().element_size_bits;
    value->set_shape(value->shape().WithLayout(std::move(layout)));
    if (value->shape() == shape) return value;
  }
  // What was just made, and nobody else reads, may as well lie as wanted.
  const bool moves = value->kind() == OpKind::Transpose || value->kind() == OpKind::Reshape ||
                     value->kind() == OpKind::Broadcast;
  if (moves && value->users().empty() && Compatible(value->shape(), shape)) {
    value->set_shape(shape);
    return value;
  }
  if (shape.IsArray()) return make.AddWithShape(OpKind::Copy, shape, {value});
  if (!shape.IsTuple()) return value;
  llvm::SmallVector<Instruction*, 4> elements;
  for (int64_t i = 0; i < shape.tuple_size(); ++i) {
    Instruction* element = value->kind() == OpKind::Tuple ? value->operand(i) : make.Gte(value, i);
    elements.push_back(InLayout(make, element, shape.tuple_shape(i)));
  }
  return make.Tuple(elements);
}

/// A scalar constant or the broadcast of one, as expansions make them, and nothing that others rely on.
bool IsSplat(const Instruction& inst) {
  if (inst.IsRoot() || inst.users().empty() || inst.has_extras()) return false;
  if (inst.kind() == OpKind::Constant) return inst.shape().IsScalar();
  return inst.kind() == OpKind::Broadcast && inst.operand(0)->kind() == OpKind::Constant;
}

using Known = llvm::DenseSet<const Instruction*>;

/// What was made before `at`, where it is not in `old`, from operands to users. It is in `old` from now on.
std::vector<Instruction*> TakeMade(const Instruction* at, Known& old) {
  std::vector<Instruction*> made;
  for (Instruction* inst = at->prev(); inst && old.insert(inst).second; inst = inst->prev())
    made.push_back(inst);
  std::reverse(made.begin(), made.end());
  return made;
}

/// Of what was just made, equal constants and broadcasts of them become one. `kept` stays.
void MergeSplats(std::vector<Instruction*>& made, const Instruction* kept, Known& old) {
  constexpr size_t kMaxLookedAt = 1024;
  llvm::SmallVector<Instruction*, 16> splats;
  for (Instruction*& inst : llvm::MutableArrayRef(made).take_back(std::min(made.size(), kMaxLookedAt))) {
    if (inst == kept || !IsSplat(*inst)) continue;
    const auto same = llvm::find_if(splats, [&](const Instruction* other) {
      return other->kind() == inst->kind() && other->shape() == inst->shape() &&
             other->operands() == inst->operands() && other->attrs() == inst->attrs() &&
             other->metadata() == inst->metadata();
    });
    if (same == splats.end()) {
      splats.push_back(inst);
      continue;
    }
    inst->ReplaceAllUsesWith(*same);
    old.erase(inst);
    inst->parent()->Remove(inst);
    inst = nullptr;
  }
  llvm::erase(made, static_cast<Instruction*>(nullptr));
}

/// Does not just compute a value of its operands at once.
bool MustWait(const Instruction& inst) {
  const OpCategory category = inst.info().category;
  return category == OpCategory::Control || category == OpCategory::Communication ||
         category == OpCategory::Async || category == OpCategory::Custom || HasSideEffect(inst);
}

/// What `by` is made of that is not in `old`, operands before users.
std::vector<Instruction*> PartsOf(Instruction* by, const Known& old) {
  std::vector<Instruction*> parts;
  std::vector<std::pair<Instruction*, int64_t>> stack;
  Known seen;
  const auto enter = [&](Instruction* inst) {
    if (!old.contains(inst) && seen.insert(inst).second) stack.emplace_back(inst, 0);
  };
  enter(by);
  while (!stack.empty()) {
    auto& [inst, next] = stack.back();
    if (next < inst->operand_count()) {
      enter(inst->operand(next++));
      continue;
    }
    parts.push_back(inst);
    stack.pop_back();
  }
  return parts;
}

/// What `inst` waits for, the loops, calls and effects in `by` wait for, and not only the last step.
void HoldBack(Instruction& inst, Instruction* by, const Known& old) {
  const std::vector<Instruction*> before = inst.extras().control_predecessors;
  if (before.empty()) return;
  Known waiting;
  for (Instruction* part : PartsOf(by, old)) {
    const bool waits =
        llvm::any_of(part->operands(), [&](const Instruction* o) { return waiting.contains(o); });
    if (!waits && !MustWait(*part)) continue;
    if (!waits)
      for (Instruction* p : before) part->AddControlPredecessor(p);
    waiting.insert(part);
  }
  if (!waiting.contains(by)) return;
  const std::vector<Instruction*> after = inst.extras().control_successors;
  inst.DropControlEdges();
  for (Instruction* s : after) s->AddControlPredecessor(&inst);
}

}  // namespace

bool HasStaticShapes(const Instruction& inst) {
  return !inst.shape().HasDynamicDimension() && llvm::none_of(inst.operands(), [](const Instruction* o) {
    return o->shape().HasDynamicDimension();
  });
}

Result<bool> ExpandMatches(Module& module, PassContext& context, ExpandTest matches, ExpandFn expand,
                           bool with_fusions) {
  std::vector<Instruction*> found;
  Known old;
  for (Computation* c : context.Computations(module, with_fusions)) {
    const size_t before = found.size();
    for (Instruction* inst : c->instructions())
      if (matches(*inst)) found.push_back(inst);
    if (found.size() != before)
      for (const Instruction* inst : c->instructions()) old.insert(inst);
  }
  bool changed = false;
  // A match may be an operand of one before it: passes append, so lists need not run from operands to users.
  llvm::SmallPtrSet<const Instruction*, 8> gone;
  for (Instruction* inst : found) {
    if (gone.contains(inst)) continue;
    HLO_CHECK_OK(context.CheckInterrupt());
    if (!context.TakeRewrite()) break;
    HLO_TRY(Instruction * by, expand(inst));
    if (!by) continue;
    changed = true;
    if (by != inst) HoldBack(*inst, by, old);
    std::vector<Instruction*> made = TakeMade(inst, old);
    if (by == inst) continue;
    old.insert(by);
    MergeSplats(made, by, old);
    Maker make(inst);
    ReplaceWith(inst, InLayout(make, by, inst->shape()));
    TakeMade(inst, old);
    llvm::SmallVector<Instruction*, 4> operands(inst->operands().begin(), inst->operands().end());
    old.erase(inst);
    inst->parent()->Remove(inst);
    for (size_t i = 0; i < operands.size(); ++i)
      if (!gone.contains(operands[i]) &&  // dead with an operand before it, of which it was one
          !llvm::is_contained(llvm::ArrayRef(operands).take_front(i), operands[i]))
        RemoveIfDead(operands[i], [&](const Instruction* dead) {
          gone.insert(dead);
          old.erase(dead);
        });
  }
  // Expansions bring what they apply along.
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace hlo
