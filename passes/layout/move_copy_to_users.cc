// move_copy_to_users: copies that change the layout move below their users (passes.md §5.5).
//
// Requires layouts. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: an elementwise instruction, slice, pad, reverse, dynamic-slice or reduce-window whose arrays are
// all copies from one layout, read by nobody else, works on what is copied, and its result is copied. Slices
// take it from copies with other users, too. Left alone: layouts with properties, shardings, control edges on
// the copies, dynamic shapes.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && shape.has_layout() && !shape.layout().HasProperties() &&
         !shape.HasDynamicDimension();
}

bool ChangesLayout(const Instruction& inst) {
  return inst.kind() == OpKind::Copy && IsPlain(inst.shape()) && IsPlain(inst.operand(0)->shape()) &&
         inst.shape().layout() != inst.operand(0)->shape().layout();
}

/// Opcodes that keep the layout of their first operands, which are as many as `arrays`; other operands are
/// scalars.
struct LayoutKeeper {
  OpKind kind;
  size_t arrays;
  bool shrinks = false;  // the result is smaller
};
constexpr LayoutKeeper kKeepers[] = {
    {OpKind::DynamicSlice, 1, true}, {OpKind::Pad, 1}, {OpKind::ReduceWindow, 1}, {OpKind::Reverse, 1},
    {OpKind::Slice, 1, true},
};

bool IsElementwise(const Instruction& inst) {
  return inst.info().Is(kElementwise) && inst.kind() != OpKind::Map && inst.kind() != OpKind::Copy;
}

/// The operands that have the layout of the result.
llvm::ArrayRef<Instruction*> ArraysOf(const Instruction& inst) {
  const LayoutKeeper* row = llvm::find_if(kKeepers, [&](const auto& k) { return k.kind == inst.kind(); });
  if (row != std::end(kKeepers)) return inst.operands().take_front(row->arrays);
  return IsElementwise(inst) ? inst.operands() : llvm::ArrayRef<Instruction*>();
}
bool Shrinks(const Instruction& inst) {
  return llvm::any_of(kKeepers, [&](const LayoutKeeper& k) { return k.kind == inst.kind() && k.shrinks; });
}

/// The layout before the copies that all arrays of an instruction are; null if they are not or may not move.
const Layout* LayoutBefore(const Instruction& inst) {
  const Layout* before = nullptr;
  for (const Instruction* o : ArraysOf(inst)) {
    if (o->shape().IsScalar() && inst.shape().IsArray() && inst.shape().rank() != 0) continue;
    if (!ChangesLayout(*o) || (!Shrinks(inst) && (o->users().size() != 1 || o->IsRoot()))) return nullptr;
    if (o->extras().sharding || HasControlEdges(*o)) return nullptr;
    const Layout& layout = o->operand(0)->shape().layout();
    if ((before && *before != layout) || !IsPlain(inst.shape()) ||
        o->shape().layout() != inst.shape().layout())
      return nullptr;
    before = &layout;
  }
  return inst.extras().sharding ? nullptr : before;
}

/// The instruction on what is copied, and the copy.
Instruction* WithCopyBelow(Instruction& inst, const Layout& layout) {
  Maker make(&inst);
  llvm::SmallVector<Instruction*, 4> operands(inst.operands());
  for (size_t i = 0; i < ArraysOf(inst).size(); ++i)
    if (ChangesLayout(*operands[i])) operands[i] = operands[i]->operand(0);
  Instruction* moved = RemakeWith(make, inst, inst.shape().WithLayout(layout), operands);
  return make.AddWithShape(OpKind::Copy, inst.shape(), {moved});
}

Result<bool> RunMoveCopyToUsers(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    if (llvm::none_of(c->instructions(), [](const Instruction* i) { return ChangesLayout(*i); })) continue;
    // Operands come first, so that a copy passes any number of users, and what dies has been visited.
    for (const std::vector<Instruction*> order = c->PostOrder(); Instruction * inst : order) {
      const Layout* layout = LayoutBefore(*inst);
      if (!layout) continue;
      if (!context.TakeRewrite()) return changed;
      ReplaceAndRemove(inst, WithCopyBelow(*inst, *layout));
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(MoveCopyToUsers, NoPassOptions);

}  // namespace hlo
