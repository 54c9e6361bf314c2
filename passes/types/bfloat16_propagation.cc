// bfloat16-propagation: values that are only read as bf16 become bf16 (passes.md §2.7).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: where every user of an f32 value converts it to bf16, instructions that move values move bf16
// instead, and dots of bf16 operands make it. Results do not change. Left alone: other arithmetic, whose
// operands would have to be f32 still; values that pass through computations.
#include "llvm/ADT/DenseSet.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/widen.h"

namespace hlo {
namespace {

constexpr ElementType kNarrow = ElementType::BF16, kWide = ElementType::F32;

bool IsNarrowing(const Instruction& inst) {
  return inst.kind() == OpKind::Convert && inst.shape().element_type() == kNarrow &&
         inst.operand(0)->shape().element_type() == kWide;
}

/// Instructions whose result consists of elements of their f32 operands.
constexpr OpKind kMovement[] = {OpKind::Broadcast,    OpKind::Reshape,     OpKind::Transpose,
                                OpKind::Reverse,      OpKind::Concatenate, OpKind::Slice,
                                OpKind::DynamicSlice, OpKind::Pad,         OpKind::Gather,
                                OpKind::Copy,         OpKind::Select,      OpKind::DynamicUpdateSlice};

bool MayNarrow(const Instruction& inst) {
  if (!inst.shape().IsArray() || inst.shape().element_type() != kWide || inst.IsRoot() ||
      inst.users().empty())
    return false;
  if (!llvm::all_of(inst.users(), [](const Instruction* u) { return IsNarrowing(*u); })) return false;
  if (inst.kind() == OpKind::Dot)
    return inst.operand(0)->shape().element_type() == kNarrow &&
           inst.operand(1)->shape().element_type() == kNarrow;
  return llvm::is_contained(kMovement, inst.kind());
}

/// Makes the value bf16 and drops the conversions of it.
void Narrow(Instruction* inst) {
  Maker make(inst);
  llvm::SmallVector<Instruction*, 4> operands;
  for (Instruction* o : inst->operands()) {
    const bool wide = o->shape().IsArray() && o->shape().element_type() == kWide;
    operands.push_back(wide ? make.AddWithShape(OpKind::Convert, Retyped(o->shape(), kNarrow), {o}) : o);
  }
  Instruction* narrow = CloneWith(*inst, *inst->parent(), operands);
  narrow->set_shape(Retyped(inst->shape(), kNarrow));
  MoveControlEdges(*inst, *narrow);
  const llvm::SmallVector<Instruction*, 4> users(inst->users().begin(), inst->users().end());
  for (Instruction* user : users) {
    Instruction* by =
        user->shape() == narrow->shape() ? narrow : make.AddWithShape(OpKind::Copy, user->shape(), {narrow});
    ReplaceWith(user, by);
    user->parent()->Remove(user);
  }
  RemoveIfDead(inst);
}

Result<bool> RunBfloat16Propagation(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    // Users before operands, so that conversions have arrived at an operand when its turn comes.
    const std::vector<Instruction*> order = c->PostOrder();
    llvm::DenseSet<const Instruction*> gone;
    for (Instruction* inst : llvm::reverse(order)) {
      if (gone.contains(inst) || !MayNarrow(*inst)) continue;
      if (!context.TakeRewrite()) return changed;
      for (const Instruction* user : inst->users()) gone.insert(user);
      gone.insert(inst);
      Narrow(inst);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(Bfloat16Propagation, NoPassOptions);

}  // namespace hlo
