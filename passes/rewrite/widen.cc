#include "passes/rewrite/widen.h"

#include "ir/op.h"
#include "passes/analysis/reducers.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

bool IsOf(const Shape& shape, ElementType type) { return shape.IsArray() && shape.element_type() == type; }

/// The shape with all leaves of the narrow type in the wide one.
Shape WideShape(const Shape& shape, const TypePair& types) {
  if (shape.IsArray()) return IsOf(shape, types.narrow) ? Retyped(shape, types.wide) : shape;
  if (!shape.IsTuple()) return shape;
  llvm::SmallVector<Shape, 4> elements;
  for (const Shape& e : shape.tuple_shapes()) elements.push_back(WideShape(e, types));
  return Shape::MakeTuple(elements);
}

Instruction* NarrowAgain(Maker& make, Instruction* wide, const Shape& shape) {
  if (wide->shape() == shape) return wide;
  if (shape.IsArray()) return make.AddWithShape(OpKind::Convert, shape, {wide});
  llvm::SmallVector<Instruction*, 4> elements;
  for (int64_t i = 0; i < shape.tuple_size(); ++i)
    elements.push_back(NarrowAgain(make, make.Gte(wide, i), shape.tuple_shape(i)));
  return make.Tuple(elements);
}

/// Ops on integers that see bits above those of the narrow type.
bool SeesHighBits(OpKind kind) {
  return kind == OpKind::ShiftRightLogical || kind == OpKind::Clz || kind == OpKind::PopulationCount;
}

constexpr OpKind kNeverWidened[] = {OpKind::Select, OpKind::MulHi, OpKind::StochasticConvert,
                                    OpKind::Real,   OpKind::Imag,  OpKind::Map,
                                    OpKind::Fft};

bool Computes(const Instruction& inst) {
  const OpCategory category = inst.info().category;
  if (llvm::is_contained(kNeverWidened, inst.kind())) return false;
  if (inst.kind() == OpKind::Reduce || inst.kind() == OpKind::ReduceWindow)
    return PlainReductionOp(inst).has_value();
  if (inst.kind() == OpKind::Compare) return inst.attr<CompareAttrs>().type != CompareType::TotalOrder;
  return category == OpCategory::Arithmetic || category == OpCategory::Transcendental ||
         category == OpCategory::Contraction || category == OpCategory::LinearAlgebra ||
         category == OpCategory::Normalisation || inst.kind() == OpKind::ReducePrecision;
}

/// Powers of two below 2^-126 as zero: rounding them to no bits beside the exponent leaves 0, and greater
/// ones as they are.
Instruction* Flushed(Maker& make, Instruction* power) {
  ReducePrecisionAttrs attrs;
  attrs.exponent_bits = Info(power->shape().element_type()).exponent_bits;
  attrs.mantissa_bits = 0;
  return make.AddWithShape(OpKind::ReducePrecision, power->shape(), {power}, attrs);
}

/// What may be less than 2^-126 though none of the operands is, and is a power of two as they are.
constexpr OpKind kGetSmaller[] = {OpKind::Multiply, OpKind::Divide};

}  // namespace

Shape Retyped(const Shape& shape, ElementType type) {
  Shape retyped = shape.WithElementType(type);
  if (!retyped.has_layout() || retyped.layout().element_size_bits == 0) return retyped;
  Layout layout = retyped.layout();
  layout.element_size_bits = 0;
  return retyped.WithLayout(std::move(layout));
}

bool ComputesIn(const Instruction& inst, ElementType narrow) {
  bool concerned = IsOf(inst.shape(), narrow);
  if (inst.shape().IsTuple())
    for (const Shape& e : inst.shape().tuple_shapes()) concerned |= IsOf(e, narrow);
  for (const Instruction* o : inst.operands()) concerned |= IsOf(o->shape(), narrow);
  return concerned && Computes(inst);
}

Instruction* Widened(Instruction* inst, const TypePair& types) {
  Maker make(inst);
  const bool sees_high_bits = IsIntegral(types.narrow) && SeesHighBits(inst->kind());
  const bool flush = types.narrow == ElementType::F8E8M0FNU && inst->info().Is(kFlushing);
  const int bits = Info(types.narrow).bits;
  llvm::SmallVector<Instruction*, 4> operands;
  for (Instruction* o : inst->operands()) {
    const auto same = llvm::find(inst->operands(), o) - inst->operands().begin();
    if (static_cast<size_t>(same) < operands.size() && !IsIntegral(types.narrow)) {
      operands.push_back(operands[static_cast<size_t>(same)]);
      continue;
    }
    Instruction* wide = o;
    if (IsOf(o->shape(), types.narrow))
      wide = make.AddWithShape(OpKind::Convert, Retyped(o->shape(), types.wide), {o});
    if (flush && wide != o) wide = Flushed(make, wide);
    // Copies of the sign are no bits of the number. Counts of shifts that have them are too large either way.
    if (sees_high_bits && IsSigned(types.narrow) && operands.empty())
      wide = Expr(make, wide) & ((int64_t{1} << bits) - 1);
    // The sign of an unsigned number is its highest bit.
    if (inst->kind() == OpKind::ShiftRightArithmetic && IsUnsigned(types.narrow) && operands.empty())
      wide = (Expr(make, wide) ^ (int64_t{1} << (bits - 1))) - (int64_t{1} << (bits - 1));
    operands.push_back(wide);
  }
  Instruction* wide = CloneWith(*inst, *inst->parent(), operands);
  wide->set_shape(WideShape(inst->shape(), types));
  if (wide->kind() == OpKind::Reduce || wide->kind() == OpKind::ReduceWindow)
    wide->SetCallees({make.ScalarComputation(*PlainReductionOp(*inst), types.wide)});
  if (sees_high_bits && inst->kind() == OpKind::Clz) wide = Expr(make, wide) - (Info(types.wide).bits - bits);
  if (flush && llvm::is_contained(kGetSmaller, inst->kind())) wide = Flushed(make, wide);
  return NarrowAgain(make, wide, inst->shape());
}

}  // namespace hlo
