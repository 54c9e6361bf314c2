#include "passes/rules/logic_rewrites.h"

#include <cmath>

#include "ir/numeric/narrow_float.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/fold.h"
#include "passes/rules/value_tests.h"

namespace hlo {
namespace {

using namespace pattern;

ElementType OperandType(const Match& m) { return m.root->operand(0)->shape().element_type(); }

/// The scalar constant below the broadcasts of a splat, and its value.
struct Bound {
  Instruction* scalar = nullptr;
  double value = 0;
};
std::optional<Bound> BoundOf(Instruction& inst) {
  if (!IsSplat(inst) || IsComplex(inst.shape().element_type())) return std::nullopt;
  Instruction* scalar = ScalarOrSplat(inst);
  return Bound{scalar, LiteralValue(*scalar->attr<ConstantAttrs>().literal, 0)};
}

int Bits(const Instruction& inst) { return Info(inst.shape().element_type()).bits; }

}  // namespace

Instruction* ClampBetween(Match& m) {
  const auto low = BoundOf(*m[B]), high = BoundOf(*m[C]);
  if (!low || !high || !(low->value < high->value)) return nullptr;
  return m.make.Add(OpKind::Clamp, {low->scalar, m[A], high->scalar});
}

Instruction* MaximumInside(Match& m) {
  const Instruction* f = m[P];
  if (f->kind() != m[Q]->kind()) return nullptr;
  return m.make.Unary(f->kind(), m.make.Binary(OpKind::Maximum, m[A], m[B]));
}

Instruction* SmallerBound(Match& m) {
  /// x < c or c > x: x and the constant.
  auto read = [](Instruction* compare) -> std::pair<Instruction*, Instruction*> {
    Instruction *x = compare->operand(0), *y = compare->operand(1);
    if (IsLess(*compare) && IsSplat(*y)) return {x, y};
    if (IsGreater(*compare) && IsSplat(*x)) return {y, x};
    return {};
  };
  const auto [x, c] = read(m[P]);
  const auto [y, d] = read(m[Q]);
  if (!x || x != y || !IsIntegral(x->shape().element_type())) return nullptr;
  const double c_value = BoundOf(*c)->value, d_value = BoundOf(*d)->value;
  if (c_value == d_value && Bits(*c) > 53) return nullptr;
  return m.make.Compare(Direction::LT, x, c_value < d_value ? c : d);
}

Instruction* FlippedCompare(Match& m) { return m.make.Compare(Direction::GT, m[B], m[A]); }
Instruction* CompareWithMinimum(Match& m) { return m.make.Compare(Direction::GT, m[A], m[B]); }

Instruction* SelectIntoUpdate(Match& m) {
  Instruction *p = m[P], *a = m[A], *b = m[B];
  const bool mirrored = a->kind() == OpKind::DynamicUpdateSlice && a->operand(0) == b;
  Instruction* dus = mirrored ? a : b;
  Instruction* x = mirrored ? b : a;
  if (dus->kind() != OpKind::DynamicUpdateSlice || dus->operand(0) != x || !HasOneUse(*dus)) return nullptr;
  if (!BoundsFitIndices(*dus)) return nullptr;
  Instruction* update = dus->operand(1);
  const llvm::SmallVector<Instruction*, 4> indices(llvm::drop_begin(dus->operands(), 2));
  const auto sizes = update->shape().dims();
  Instruction* old = m.make.DynamicSlice(x, indices, sizes);
  if (!p->shape().IsScalar()) p = m.make.DynamicSlice(p, indices, sizes);
  Instruction* chosen = mirrored ? m.make.Select(p, update, old) : m.make.Select(p, old, update);
  return m.make.DynamicUpdateSlice(x, chosen, indices);
}

Instruction* ConvertConstant(Match& m) {
  if (Bits(*m.root) > Bits(*m[A]) || Bits(*m.root) < 8) return nullptr;
  auto value = Folder().Evaluate(*m.root);
  return value ? m.make.Constant(std::move(*value)) : nullptr;
}

Instruction* OperateNarrow(Match& m) {
  const ElementType narrow = m.type(), wide = m[C]->shape().element_type();
  const bool division = m[C]->kind() == OpKind::Divide || m[C]->kind() == OpKind::Remainder;
  if (!IsIntegral(narrow) || !IsIntegral(wide) || IsSigned(narrow) != IsSigned(wide) ||
      Info(wide).bits < Info(narrow).bits || (division && IsSigned(narrow)))
    return nullptr;
  if (m[A]->shape().element_type() != narrow || m[B]->shape().element_type() != narrow) return nullptr;
  return m.make.Binary(m[C]->kind(), m[A], m[B]);
}

Instruction* BitcastConvertOnce(Match& m) {
  const int from = Bits(*m[A]), between = Bits(*m[B]), to = Bits(*m.root);
  // Otherwise there may be no conversion in one step.
  if (from != between && between != to) return nullptr;
  return m.make.BitcastConvert(m[A], m.shape());
}

Instruction* ConcatenateUnconverted(Match& m) {
  Instruction* concatenate = m[A];
  llvm::SmallVector<Instruction*, 4> operands;
  for (Instruction* operand : concatenate->operands()) {
    if (operand->kind() != OpKind::BitcastConvert) return nullptr;
    operands.push_back(operand->operand(0));
    if (operands.back()->shape().element_type() != m.type() ||
        operands.back()->shape().rank() != m.shape().rank())
      return nullptr;
  }
  const int64_t dimension = concatenate->attr<DimensionsAttrs>().dimensions[0];
  // The dimension that takes up a difference in width must not be the joined one.
  if (Bits(*m.root) != Bits(*concatenate)) return nullptr;
  return m.make.Concatenate(operands, dimension);
}

Instruction* BroadcastConverted(Match& m) {
  if (Bits(*m.root) != Bits(*m[A])) return nullptr;
  Instruction* converted = m.make.BitcastConvert(m[A], m[A]->shape().WithElementType(m.type()));
  return m.make.Broadcast(converted, m.shape(), m[B]->attr<DimensionsAttrs>().dimensions);
}

Instruction* BitcastInstead(Match& m) {
  if (!Options(m).rewrite_no_op_bitcast_convert_to_bitcast || !m[A]->shape().has_layout()) return nullptr;
  const bool same = Bits(*m.root) == Bits(*m[A]) && m.shape().layout() == m[A]->shape().layout();
  return same && Bits(*m.root) >= 8 ? m.make.Bitcast(m[A], m.shape()) : nullptr;
}

bool MinMaxPropagateNan(const Match& m) { return !Floating(m) || Options(m).minmax_propagate_nan; }
bool UnsignedOperands(const Match& m) { return IsUnsigned(OperandType(m)) || IsPred(OperandType(m)); }
bool OrderedOperands(const Match& m) { return IsIntegral(OperandType(m)) || IsPred(OperandType(m)); }
bool PredOperands(const Match& m) { return IsPred(OperandType(m)); }
bool PredRoot(const Match& m) { return m.shape().IsArray() && IsPred(m.type()); }

bool BoundedClamp(const Match& m) {
  const auto low = BoundOf(*m[B]), high = BoundOf(*m[C]);
  if (!low || !high || !(low->value < high->value)) return false;
  return !Floating(m) || low->value == 0 || std::fabs(low->value) >= MinNormal(m.type());
}

bool CoversDeviceIds(const Match& m) {
  const ModuleConfig& config = m.root->module()->config;
  const int64_t count = m[A]->kind() == OpKind::PartitionId ? config.num_partitions : config.replica_count;
  const auto limit = ScalarIntValue(*m[B]);
  return count != 1 && limit && count - 1 <= *limit;
}

bool WidensExactly(const Match& m) {
  const TypeInfo &t = Info(m.type()), &u = Info(m[B]->shape().element_type());
  if (m[A]->shape().element_type() != t.type || t.special == FloatSpecial::E8M0 ||
      u.special == FloatSpecial::E8M0)
    return false;
  const bool ieee = u.special == FloatSpecial::Ieee && u.bits >= 16;  // infinities, both zeros, NaN
  if (t.type == u.type) return true;
  switch (t.type_class) {
    case TypeClass::Pred: return u.type_class != TypeClass::Complex;
    case TypeClass::Signed:
    case TypeClass::Unsigned:
      if (u.type_class == TypeClass::Float) return ieee && t.bits <= u.mantissa_bits;
      if (u.type_class == t.type_class) return u.bits >= t.bits;
      return t.type_class == TypeClass::Unsigned && u.type_class == TypeClass::Signed && u.bits > t.bits;
    case TypeClass::Float:
      return u.type_class == TypeClass::Float && ieee && u.mantissa_bits >= t.mantissa_bits &&
             u.exponent_bits >= t.exponent_bits;
    case TypeClass::Complex: return u.type_class == TypeClass::Complex && u.bits >= t.bits;
    default: return false;
  }
}

bool KeepsOwnPrecision(const Match& m) {
  const auto& attrs = m.root->attr<ReducePrecisionAttrs>();
  const TypeInfo& info = Info(m.type());
  return Options(m).enable_remove_no_op_reduce_precision && attrs.exponent_bits == info.exponent_bits &&
         attrs.mantissa_bits == info.mantissa_bits;
}

bool FoldsConverts(const Match& m) { return Options(m).use_convert_constant_folding; }

}  // namespace hlo
