// dynamic-dimension-simplifier: cancels what puts sizes into vectors and takes them out again (passes.md
// §2.2).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes, for scalars and vectors: a concatenate in a concatenate becomes one; a slice of a concatenate
// that covers one operand becomes the operand; a reshape of a one-element vector that a reshape or broadcast
// made of a scalar becomes the scalar. Of any static shape: reshapes of reshapes become one, and those to the
// shape of their operand go.
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// Sizes are scalars and vectors, and what is done with them is done with others of any type.
bool MayHoldSizes(const Instruction& inst) {
  const Shape& shape = inst.shape();
  return shape.IsArray() && (shape.rank() <= 1 || inst.kind() == OpKind::Reshape) &&
         !shape.HasDynamicDimension();
}

/// concat(a, concat(b, c), d) as concat(a, b, c, d).
Instruction* FlattenConcatenate(Instruction* inst, PassContext& context) {
  const auto is_concatenate = [](const Instruction* o) { return o->kind() == OpKind::Concatenate; };
  if (inst->kind() != OpKind::Concatenate || llvm::none_of(inst->operands(), is_concatenate)) return nullptr;
  llvm::SmallVector<Instruction*, 8> parts;
  for (Instruction* o : inst->operands())
    if (is_concatenate(o))
      parts.append(o->operands().begin(), o->operands().end());
    else
      parts.push_back(o);
  return context.TakeRewrite() ? Maker(inst).Concatenate(parts, 0) : nullptr;
}

/// The operand of a concatenate that a slice cuts out.
Instruction* SlicedOperand(const Instruction& inst) {
  if (inst.kind() != OpKind::Slice || inst.operand(0)->kind() != OpKind::Concatenate) return nullptr;
  const SliceRange& range = inst.attr<SliceAttrs>().slice[0];
  int64_t start = 0;
  for (Instruction* part : inst.operand(0)->operands()) {
    const int64_t limit = start + part->shape().dim(0);
    if (range.start == start && range.limit == limit && range.stride == 1) return part;
    start = limit;
  }
  return nullptr;
}

/// What became a vector or scalar and is what it was again.
Instruction* BeforeReshapes(const Instruction& inst) {
  if (inst.kind() != OpKind::Reshape) return nullptr;
  Instruction* from = inst.operand(0);
  if (from->kind() == OpKind::Reshape || (from->kind() == OpKind::Broadcast && inst.shape().IsScalar()))
    from = from->operand(0);
  return from;
}

/// One reshape instead of two, whatever their ranks.
Instruction* MergeReshapes(Instruction* inst, PassContext& context) {
  if (inst->kind() != OpKind::Reshape || inst->operand(0)->kind() != OpKind::Reshape) return nullptr;
  Instruction* from = inst->operand(0)->operand(0);
  if (from->shape() == inst->shape() || !context.TakeRewrite()) return nullptr;
  return Maker(inst).AddWithShape(OpKind::Reshape, inst->shape(), {from});
}

bool MayBeRoundabout(const Instruction& inst) {
  return inst.kind() == OpKind::Concatenate || inst.kind() == OpKind::Slice ||
         inst.kind() == OpKind::Reshape || inst.kind() == OpKind::Convert;
}

Instruction* Simpler(Instruction* inst, PassContext& context) {
  if (Instruction* flat = FlattenConcatenate(inst, context)) return flat;
  if (Instruction* merged = MergeReshapes(inst, context)) return merged;
  Instruction* simpler = SlicedOperand(*inst);
  if (!simpler) simpler = BeforeReshapes(*inst);
  if (inst->kind() == OpKind::Convert) simpler = inst->operand(0);
  return simpler && simpler->shape() == inst->shape() && context.TakeRewrite({}, *inst, *simpler) ? simpler
                                                                                                  : nullptr;
}

Result<bool> RunDynamicDimensionSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (llvm::none_of(c->instructions(), [](const Instruction* inst) { return MayBeRoundabout(*inst); }))
      continue;
    llvm::DenseSet<Instruction*> gone;
    const std::vector<Instruction*> order = c->PostOrder();
    for (Instruction* inst : order) {
      if (gone.contains(inst) || !MayBeRoundabout(*inst) || !MayHoldSizes(*inst) ||
          (inst->kind() != OpKind::Reshape && !MayHoldSizes(*inst->operand(0))) || inst->extras().sharding ||
          HasControlEdges(*inst))
        continue;
      Instruction* simpler = Simpler(inst, context);
      if (!simpler) continue;
      ReplaceWith(inst, simpler);
      RemoveIfDead(inst, [&](Instruction* dead) { gone.insert(dead); });
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(DynamicDimensionSimplifier, NoPassOptions);

}  // namespace hlo
