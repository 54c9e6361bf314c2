// reshape-mover: reshapes and transposes move below elementwise operations (passes.md §4.8).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: an elementwise instruction whose operands are alike rearranged works on the values before, and its
// result is rearranged, if nobody else uses the rearranged operands. Scalars, constants and broadcasts
// whose dimensions come through may stand beside them, as an option any broadcast vector. Groups of
// elementwise instructions that differ by dimensions of size 1 only take the shape that needs the fewest
// reshapes (reshape_align.h), upwards too, which XLA's pass does not. To be run with algsimp to a fixed
// point. Left alone: dynamic shapes.
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"
#include "passes/simplify/reshape_align.h"

namespace hlo {
namespace {

struct ReshapeMoverOptions {
  bool reshape_of_1d_broadcast_is_cheap = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&ReshapeMoverOptions::reshape_of_1d_broadcast_is_cheap>(
        "reshape_of_1d_broadcast_is_cheap", "reshapes of broadcast vectors are nothing to avoid"),
};

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

/// The dimensions of a broadcast of the same array that has the shape before the rearrangement: none of those
/// it keeps is merged or split, and their order stays. Nothing for others.
std::optional<Dims> BroadcastBefore(const Instruction& broadcast, const Instruction& rearrangement) {
  if (broadcast.kind() != OpKind::Broadcast || !HasStaticShapes(broadcast)) return std::nullopt;
  const bool reshapes = rearrangement.kind() == OpKind::Reshape;
  const llvm::ArrayRef<int64_t> before = rearrangement.operand(0)->shape().dims();
  const Dims targets = reshapes ? UnmodifiedTargets(broadcast.shape().dims(), before)
                                : Dims(rearrangement.attr<DimensionsAttrs>().dimensions);
  Dims dims;
  for (const int64_t d : broadcast.attr<DimensionsAttrs>().dimensions) {
    const int64_t to = targets[static_cast<size_t>(d)];
    if (to < 0 || (!dims.empty() && to <= dims.back())) return std::nullopt;
    dims.push_back(to);
  }
  return dims;
}

/// The first rearranged operand of an elementwise instruction that may work on the values before; else null.
const Instruction* RearrangementOf(const Instruction& inst, const ReshapeMoverOptions& options) {
  if (!inst.info().Is(kElementwise) || inst.kind() == OpKind::Map || inst.kind() == OpKind::Copy ||
      !HasStaticShapes(inst))
    return nullptr;
  const Instruction* first = nullptr;
  for (const Instruction* o : inst.operands()) {
    if (!IsRearrangement(*o) || !SameDims(o->shape(), inst.shape())) continue;
    if (first && !Alike(*first, *o)) return nullptr;
    first = o;
  }
  const auto follows = [&](const Instruction* o) {
    return o->shape().rank() == 0 || o->kind() == OpKind::Constant || IsSplat(*o) || IsRearrangement(*o) ||
           BroadcastBefore(*o, *first) ||
           (options.reshape_of_1d_broadcast_is_cheap && first->kind() == OpKind::Reshape &&
            o->kind() == OpKind::Broadcast && o->operand(0)->shape().rank() == 1);
  };
  return first && llvm::all_of(inst.operands(), follows) ? first : nullptr;
}

/// Elementwise instructions that can take all uses of their rearranged operands with them.
Candidates Find(const Computation& computation, const ReshapeMoverOptions& options) {
  Candidates found;
  for (Instruction* inst : computation.PostOrder())
    if (RearrangementOf(*inst, options)) found.insert(inst);
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
  if (const auto broadcast = BroadcastBefore(*operand, rearrangement))
    return make.Broadcast(operand->operand(0),
                          Shape::ArrayWithDefaultLayout(operand->shape().element_type(), dims), *broadcast);
  if (rearrangement.kind() == OpKind::Reshape) return make.Reshape(operand, dims);
  return make.Transpose(operand, InversePermutation(rearrangement.attr<DimensionsAttrs>().dimensions));
}

void MoveBelow(Instruction* inst, const Instruction& rearrangement,
               llvm::DenseSet<const Instruction*>& gone) {
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

llvm::ArrayRef<PassOptionRow> ReshapeMoverOptions::Rows() { return kRows; }

Result<bool> RunReshapeMover(Module& module, const ReshapeMoverOptions& options, PassContext& context) {
  if (module.CountOf(OpKind::Reshape) + module.CountOf(OpKind::Transpose) == 0) return false;
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    llvm::DenseSet<const Instruction*> gone;
    for (Instruction* inst : Find(*c, options)) {
      // A move before may have removed it, or given it a second, different rearrangement.
      const Instruction* rearrangement = gone.contains(inst) ? nullptr : RearrangementOf(*inst, options);
      if (!rearrangement) continue;
      if (!context.TakeRewrite()) return changed;
      MoveBelow(inst, *rearrangement, gone);
      changed = true;
    }
    HLO_TRY(const bool aligned, AlignOnes(*c, context));
    changed |= aligned;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ReshapeMover, ReshapeMoverOptions);

}  // namespace hlo
