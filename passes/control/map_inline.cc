// map-inline: a map of one operation is that operation on arrays (passes.md §2.1).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: a map whose computation is one elementwise operation on its parameters, or just a parameter or a
// constant, becomes the operation on arrays, the operand, or a broadcast. A scalar beside arrays is
// broadcast, too. Left alone: any other map, dynamic sizes, control edges.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// What the map computes, made of operations on arrays; null if its body is not that simple.
Instruction* OnArrays(Instruction* map, PassContext& context) {
  const Instruction& root = *map->callee()->root();
  const Shape& shape = map->shape();
  if (root.kind() == OpKind::Parameter) {
    Instruction* operand = map->operand(root.attr<ParameterAttrs>().number);
    if (operand->shape() == shape) return context.TakeRewrite({}, *map, *operand) ? operand : nullptr;
    const bool scalar = operand->shape().IsScalarOf(shape.element_type());
    return scalar && context.TakeRewrite() ? Maker(map).Splat(shape, operand) : nullptr;
  }
  if (root.kind() == OpKind::Constant) {
    if (!root.attr<ConstantAttrs>().literal || !context.TakeRewrite()) return nullptr;
    Maker make(map);
    return make.Splat(shape, make.Constant(*root.attr<ConstantAttrs>().literal));
  }
  if (!root.info().Is(kElementwise) || !root.callees().empty() || HasSideEffect(root)) return nullptr;
  llvm::SmallVector<Instruction*, 3> operands;
  for (const Instruction* o : root.operands()) {
    if (o->kind() != OpKind::Parameter) return nullptr;
    operands.push_back(map->operand(o->attr<ParameterAttrs>().number));
  }
  // Clamps and selects that take scalars as they are would mean the same; arrays are as good.
  if (!context.TakeRewrite()) return nullptr;
  Maker make(map);
  for (Instruction*& operand : operands) operand = make.MapOperand(shape, operand);
  Instruction* made = make.AddWithShape(root.kind(), shape, operands, root.attrs());
  made->MutableExtras().result_accuracy = root.extras().result_accuracy;
  return made;
}

Result<bool> RunMapInline(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    const std::vector<Instruction*> maps = c->InstructionsOf(OpKind::Map);
    for (Instruction* map : maps) {
      if (map->shape().HasDynamicDimension() || HasControlEdges(*map)) continue;
      Instruction* by = OnArrays(map, context);
      if (!by) continue;
      ReplaceWith(map, by);
      c->Remove(map);
      changed = true;
    }
  }
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(MapInline, NoPassOptions);

}  // namespace hlo
