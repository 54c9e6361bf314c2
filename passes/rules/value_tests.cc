#include "passes/rules/value_tests.h"

#include <bit>
#include <cmath>

#include "ir/numeric/narrow_float.h"
#include "ir/start_bounds.h"
#include "passes/analysis/value_facts.h"

namespace hlo {
namespace {

/// The constant below broadcasts and, if wanted, other movements; null for others and elided ones.
const Literal* LiteralBelow(const Instruction& inst, bool moved) {
  const Instruction* at = &inst;
  while (at->kind() == OpKind::Broadcast ||
         (moved && (at->kind() == OpKind::Reshape || at->kind() == OpKind::Transpose ||
                    at->kind() == OpKind::Copy || at->kind() == OpKind::Slice)))
    at = at->operand(0);
  return at->kind() == OpKind::Constant ? at->attr<ConstantAttrs>().literal.get() : nullptr;
}

/// The bits that all elements have.
std::optional<uint64_t> SplatBits(const Instruction& inst) {
  const Instruction* constant = SplatConstant(inst);
  if (!constant || IsComplex(inst.shape().element_type())) return std::nullopt;
  const Literal& literal = *constant->attr<ConstantAttrs>().literal;
  if (literal.shape().ElementCount() == 0) return std::nullopt;
  return literal.Bits(0) & (~uint64_t{0} >> (64 - Info(inst.shape().element_type()).bits));
}

bool IsLimit(const Instruction& inst, bool maximum) {
  const auto bits = SplatBits(inst);
  if (!bits) return false;
  const ElementType type = inst.shape().element_type();
  const uint64_t all = ~uint64_t{0} >> (64 - Info(type).bits);
  if (IsFloat(type)) {
    if (HasInfinity(type)) return ToDouble(type, *bits) == (maximum ? HUGE_VAL : -HUGE_VAL);
    return !IsNanCode(type, *bits) && std::fabs(ToDouble(type, *bits)) == MaxFinite(type) &&
           SignBit(type, *bits) != maximum;
  }
  const uint64_t top = IsSigned(type) ? all >> 1 : all;
  return *bits == (maximum ? top : all ^ top);
}

bool HasDirection(const Instruction& inst, Direction direction) {
  const auto& attrs = inst.attr<CompareAttrs>();
  return attrs.direction == direction && attrs.type != CompareType::TotalOrder;
}

}  // namespace

bool IsConstant(const Instruction& inst) { return LiteralBelow(inst, true) != nullptr; }
bool IsNotConstant(const Instruction& inst) { return !IsConstant(inst); }
bool IsSplat(const Instruction& inst) {
  const Literal* literal = LiteralBelow(inst, false);
  return literal && literal->shape().IsScalar();
}
bool IsBoolean(const Instruction& inst) {
  return inst.shape().IsArray() && IsPred(inst.shape().element_type());
}
bool IsTypeMinimum(const Instruction& inst) { return IsLimit(inst, false); }
bool IsTypeMaximum(const Instruction& inst) { return IsLimit(inst, true); }

bool IsAllOnes(const Instruction& inst) {
  const auto bits = SplatBits(inst);
  return bits && !IsFloat(inst.shape().element_type()) &&
         *bits == ~uint64_t{0} >> (64 - Info(inst.shape().element_type()).bits);
}

std::optional<int64_t> LogOfPowerOfTwo(const Instruction& inst) {
  const ElementType type = inst.shape().element_type();
  const auto bits = IsIntegral(type) ? SplatBits(inst) : std::nullopt;
  if (!bits || !std::has_single_bit(*bits)) return std::nullopt;
  if (IsSigned(type) && *bits >> (Info(type).bits - 1) != 0) return std::nullopt;
  return std::countr_zero(*bits);
}

bool BoundsFitIndices(const Instruction& update) {
  for (size_t d = 0; d + 2 < update.operands().size(); ++d) {
    const Shape& index = update.operand(static_cast<int64_t>(d) + 2)->shape();
    const int bits = UpdateBoundBits(index.element_type());
    if (bits == 64) continue;
    // An old form has all indices in one array.
    for (int64_t k = 0; k < update.shape().rank(); ++k) {
      if (index.rank() == 0 && k != static_cast<int64_t>(d)) continue;
      if ((update.shape().dim(k) - update.operand(1)->shape().dim(k)) >> bits != 0) return false;
    }
  }
  return true;
}

bool IsLess(const Instruction& inst) { return HasDirection(inst, Direction::LT); }
bool IsGreater(const Instruction& inst) { return HasDirection(inst, Direction::GT); }
bool IsLessOrEqual(const Instruction& inst) { return HasDirection(inst, Direction::LE); }
bool IsGreaterOrEqual(const Instruction& inst) { return HasDirection(inst, Direction::GE); }
bool IsEqual(const Instruction& inst) { return HasDirection(inst, Direction::EQ); }
bool IsNotEqual(const Instruction& inst) { return HasDirection(inst, Direction::NE); }

}  // namespace hlo
