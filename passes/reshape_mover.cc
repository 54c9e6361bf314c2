#include "passes/reshape_mover.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/reshape_align.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

using Candidates = llvm::SetVector<Instruction*>;

/// Other than what AlignOnes places.
bool IsRearrangement(const Instruction& inst) {
  return (inst.kind() == OpKind::Reshape || inst.kind() == OpKind::Transpose) && HasStaticShapes(inst) &&
         !inst.IsRoot() && !ChangesOnlyOnes(inst);
}

/// The same rearrangement of another value; the results have equal sizes.
bool Alike(const Instruction& a, const Instruction& b) {
  return a.kind() == b.kind() && SameDims(a.operand(0)->shape(), b.operand(0)->shape()) &&
         a.attrs() == b.attrs();
}

bool IsSplat(const Instruction& inst) {
  return inst.kind() == OpKind::Broadcast && inst.operand(0)->shape().rank() == 0;
}

/// The first rearranged operand of an elementwise instruction that may work on the values before; else null.
const Instruction* RearrangementOf(const Instruction& inst) {
  if (!inst.info().Is(kElementwise) || inst.kind() == OpKind::Map || inst.kind() == OpKind::Copy ||
      !HasStaticShapes(inst))
    return nullptr;
  const Instruction* first = nullptr;
  for (const Instruction* o : inst.operands()) {
    if (IsRearrangement(*o) && SameDims(o->shape(), inst.shape())) {
      if (first && !Alike(*first, *o)) return nullptr;
      first = o;
    } else if (o->shape().rank() != 0 && o->kind() != OpKind::Constant && !IsSplat(*o)) {
      return nullptr;
    }
  }
  return first;
}

/// Elementwise instructions that can take all uses of their rearranged operands with them.
Candidates Find(const Computation& computation) {
  Candidates found;
  for (Instruction* inst : computation.PostOrder())
    if (RearrangementOf(*inst)) found.insert(inst);
  auto keeps = [&](const Instruction* inst) {
    return llvm::all_of(inst->operands(), [&](const Instruction* o) {
      return !IsRearrangement(*o) ||
             llvm::all_of(o->users(), [&](Instruction* user) { return found.contains(user); });
    });
  };
  for (size_t size = found.size() + 1; found.size() != size;) {
    size = found.size();
    found.remove_if([&](Instruction* inst) { return !keeps(inst); });
  }
  return found;
}

Instruction* Before(Maker& make, Instruction* operand, const Instruction& rearrangement) {
  const llvm::ArrayRef<int64_t> dims = rearrangement.operand(0)->shape().dims();
  if (operand->shape().rank() == 0 && rearrangement.shape().rank() != 0) return operand;
  if (IsRearrangement(*operand)) return operand->operand(0);
  if (IsSplat(*operand))
    return make.Splat(Shape::ArrayWithDefaultLayout(operand->shape().element_type(), dims),
                      operand->operand(0));
  if (rearrangement.kind() == OpKind::Reshape) return make.Reshape(operand, dims);
  return make.Transpose(operand, InversePermutation(rearrangement.attr<DimensionsAttrs>().dimensions));
}

void MoveBelow(Instruction* inst, llvm::DenseSet<const Instruction*>& gone) {
  const Instruction& rearrangement = *RearrangementOf(*inst);
  Maker make(inst);
  llvm::SmallVector<Instruction*, 3> operands;
  for (Instruction* o : inst->operands()) operands.push_back(Before(make, o, rearrangement));
  const Shape shape =
      Shape::ArrayWithDefaultLayout(inst->shape().element_type(), rearrangement.operand(0)->shape().dims());
  Instruction* moved = make.AddWithShape(inst->kind(), shape, operands, inst->attrs());
  if (inst->has_extras()) moved->MutableExtras().result_accuracy = inst->extras().result_accuracy;
  ReplaceWith(inst, make.AddWithShape(rearrangement.kind(), inst->shape(), {moved}, rearrangement.attrs()));
  RemoveIfDead(inst, [&](const Instruction* dead) { gone.insert(dead); });
}

}  // namespace

Result<bool> RunReshapeMover(Module& module, const NoPassOptions&, PassContext& context) {
  if (module.CountOf(OpKind::Reshape) + module.CountOf(OpKind::Transpose) == 0) return false;
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    llvm::DenseSet<const Instruction*> gone;
    for (Instruction* inst : Find(*c)) {
      // A move before may have removed it, or given it a second, different rearrangement.
      if (gone.contains(inst) || !RearrangementOf(*inst)) continue;
      if (!context.TakeRewrite()) return changed;
      MoveBelow(inst, gone);
      changed = true;
    }
    HLO_TRY(const bool aligned, AlignOnes(*c, context));
    changed |= aligned;
  }
  return changed;
}

HLO_DEFINE_PASS(ReshapeMover, NoPassOptions);

}  // namespace hlo
