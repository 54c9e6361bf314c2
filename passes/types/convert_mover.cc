// convert-mover: conversions move to where less data is moved (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a conversion to a narrower type moves above the data movement whose result it converts, if nobody
// else reads that; conversions to a wider type move below data movement, if all its values are converted from
// one type or are constants that survive the conversion to it and back. Broadcasts of wide values stay, and
// so do conversions of slices. Left alone: control edges, shardings, dynamic shapes, layouts with properties,
// conversions between integers and floats.
#include "ir/eval/elementwise.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// An opcode that moves its first operands, whatever their type.
struct Movement {
  OpKind kind;
  int64_t values;      // how many operands those are; kAll: all
  bool drops = false;  // the result has fewer elements: conversions do not move up
  bool grows = false;  // it repeats elements: they do not move down
};
constexpr int64_t kAll = -1;
constexpr Movement kMovements[] = {
    {OpKind::Broadcast, 1, false, true},
    {OpKind::Concatenate, kAll},
    {OpKind::Pad, 2},
    {OpKind::Reshape, 1},
    {OpKind::Reverse, 1},
    {OpKind::Transpose, 1},
    {OpKind::Slice, 1, true},
    {OpKind::DynamicSlice, 1, true},
    {OpKind::Gather, 1, true},
};

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && (!shape.has_layout() || !shape.layout().HasProperties());
}

bool IsFree(const Instruction& inst) { return !HasControlEdges(inst) && !inst.extras().sharding; }

/// Null if the instruction is no movement that may change type.
const Movement* MovementOf(const Instruction& inst) {
  const Movement* found = llvm::find_if(kMovements, [&](const Movement& m) { return m.kind == inst.kind(); });
  return found != std::end(kMovements) && HasStaticArrays(inst) && IsPlain(inst.shape()) && IsFree(inst)
             ? found
             : nullptr;
}
llvm::ArrayRef<Instruction*> ValuesOf(const Instruction& inst, const Movement& movement) {
  return movement.values == kAll ? inst.operands()
                                 : inst.operands().take_front(static_cast<size_t>(movement.values));
}

/// Between integers or between floats of different widths: 1 to the wider, -1 to the narrower; else 0.
int Widening(const Instruction& inst) {
  if (inst.kind() != OpKind::Convert || !IsFree(inst) || !HasStaticArrays(inst) || !IsPlain(inst.shape()) ||
      !IsPlain(inst.operand(0)->shape()))
    return 0;
  const ElementType from = inst.operand(0)->shape().element_type(), to = inst.shape().element_type();
  if (!(IsIntegral(from) && IsIntegral(to)) && !(IsFloat(from) && IsFloat(to))) return 0;
  const int a = Info(from).bits, b = Info(to).bits;
  return a < b ? 1 : a > b ? -1 : 0;
}

/// The constant as a literal of another type; an invalid one if converting that back gives other bits.
Literal Narrowed(const Instruction& constant, ElementType type) {
  if (constant.kind() != OpKind::Constant || !constant.attr<ConstantAttrs>().literal) return {};
  const Literal wide = constant.attr<ConstantAttrs>().literal->Unpack();
  Literal narrow = ConvertLiteral(wide, type);
  return ConvertLiteral(narrow, wide.shape().element_type()) == wide ? narrow : Literal();
}

/// The same movement of other values, with a result of that type.
Instruction* Moved(Maker& make, const Instruction& inst, llvm::ArrayRef<Instruction*> values,
                   ElementType type) {
  llvm::SmallVector<Instruction*, 4> operands(inst.operands());
  llvm::copy(values, operands.begin());
  return RemakeWith(make, inst, inst.shape().WithElementType(type), operands);
}

/// The movement as a conversion of narrower values moved; null if it does not apply.
Instruction* WithConvertBelow(Instruction* inst, PassContext& context) {
  const Movement* movement = MovementOf(*inst);
  if (!movement || movement->grows) return nullptr;
  const llvm::ArrayRef<Instruction*> values = ValuesOf(*inst, *movement);
  const auto* convert = llvm::find_if(values, [](const Instruction* v) { return Widening(*v) > 0; });
  if (convert == values.end()) return nullptr;
  const ElementType type = (*convert)->operand(0)->shape().element_type();
  llvm::SmallVector<Literal, 4> constants;
  for (const Instruction* v : values) {
    const bool converted = Widening(*v) > 0 && v->operand(0)->shape().element_type() == type;
    constants.push_back(converted ? Literal() : Narrowed(*v, type));
    if (!converted && !constants.back().valid()) return nullptr;
  }
  if (!context.TakeRewrite()) return nullptr;
  Maker make(inst);
  llvm::SmallVector<Instruction*, 4> narrow;
  for (size_t i = 0; i < values.size(); ++i)
    narrow.push_back(constants[i].valid() ? make.Constant(constants[i]) : values[i]->operand(0));
  return make.AddWithShape(OpKind::Convert, inst->shape(), {Moved(make, *inst, narrow, type)});
}

/// The conversion of a movement as a movement of converted values; null if it does not apply. Adds the
/// conversions made to `made`.
Instruction* WithConvertAbove(Instruction* convert, PassContext& context, std::vector<Instruction*>& made) {
  if (Widening(*convert) >= 0) return nullptr;
  Instruction* inst = convert->operand(0);
  const Movement* movement = MovementOf(*inst);
  if (!movement || movement->drops || inst->users().size() != 1 || inst->IsRoot() ||
      inst->shape() != convert->shape().WithElementType(inst->shape().element_type()) ||
      !context.TakeRewrite())
    return nullptr;
  Maker make(inst);
  const ElementType type = convert->shape().element_type();
  llvm::SmallVector<Instruction*, 4> narrow;
  for (Instruction* v : ValuesOf(*inst, *movement)) narrow.push_back(make.Convert(v, type));
  llvm::append_range(made, narrow);
  return Moved(make, *inst, narrow, type);
}

Result<bool> RunConvertMover(Module& module, const NoPassOptions&, PassContext& context) {
  const int64_t before = context.rewrites();
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    if (llvm::none_of(c->instructions(), [](const Instruction* i) { return Widening(*i) != 0; })) continue;
    // Operands come before users, so that a conversion passes any number of movements on its way down, and
    // whatever dies has been visited.
    for (const std::vector<Instruction*> order = c->PostOrder(); Instruction * inst : order)
      if (Instruction* by = WithConvertBelow(inst, context)) ReplaceAndRemove(inst, by);
    std::vector<Instruction*> narrowing;
    for (Instruction* inst : c->instructions())
      if (Widening(*inst) < 0) narrowing.push_back(inst);
    while (!narrowing.empty()) {
      Instruction* convert = narrowing.back();
      narrowing.pop_back();
      if (Instruction* by = WithConvertAbove(convert, context, narrowing)) ReplaceAndRemove(convert, by);
    }
  }
  return context.rewrites() != before;
}

}  // namespace

HLO_DEFINE_PASS(ConvertMover, NoPassOptions);

}  // namespace hlo
