#include "passes/analysis/value_facts.h"

#include <cmath>
#include <complex>

#include "ir/by_op_kind.h"
#include "ir/numeric/narrow_float.h"

namespace hlo {
namespace {

constexpr int kDepth = 32;  // levels of operands looked through

const Literal* ConstantLiteral(const Instruction& inst) {
  return inst.kind() == OpKind::Constant ? inst.attr<ConstantAttrs>().literal.get() : nullptr;
}

/// The element is exactly `value`, with +0 and −0 told apart.
bool ElementIs(const Literal& literal, int64_t linear, double value) {
  if (IsComplex(literal.shape().element_type())) {
    const bool single = literal.shape().element_type() == ElementType::C64;
    const double imaginary =
        single ? double{literal.Data<std::complex<float>>()[static_cast<size_t>(linear)].imag()}
               : literal.Data<std::complex<double>>()[static_cast<size_t>(linear)].imag();
    if (imaginary != 0 || std::signbit(imaginary)) return false;
  }
  const double found = LiteralValue(literal, linear);
  return found == value && std::signbit(found) == std::signbit(value);
}

bool AllElementsEqual(const Literal& literal) {
  const int64_t count = literal.shape().ElementCount();
  if (count == 0 || literal.HasDynamicSizes()) return false;
  if (!literal.packed()) {  // one memory comparison against itself, shifted by an element
    const auto bytes = static_cast<size_t>(Info(literal.shape().element_type()).host_bytes());
    return std::memcmp(literal.data(), literal.data() + bytes, literal.byte_size() - bytes) == 0;
  }
  for (int64_t i = 1; i < count; ++i)
    if (literal.Bits(i) != literal.Bits(0)) return false;
  return true;
}

bool NonNegative(const Instruction& inst, int depth);
bool Positive(const Instruction& inst, int depth);

/// What holds of a value by what it is made of, with `depth` levels of operands to look through.
using Rule = bool(const Instruction& inst, int depth);

template <Rule* rule, int operand = 0>
bool AsOperand(const Instruction& inst, int depth) {
  return rule(*inst.operand(operand), depth - 1);
}
template <Rule* rule, int first = 0>
bool AsEither(const Instruction& inst, int depth) {
  return rule(*inst.operand(first), depth - 1) || rule(*inst.operand(first + 1), depth - 1);
}
template <Rule* rule, int first = 0>
bool AsBoth(const Instruction& inst, int depth) {
  return rule(*inst.operand(first), depth - 1) && rule(*inst.operand(first + 1), depth - 1);
}

bool PositiveConstant(const Instruction& inst, int) {
  const Literal* literal = ConstantLiteral(inst);
  return literal && inst.shape().IsScalar() && LiteralValue(*literal, 0) > 0;
}
bool NonNegativeConstant(const Instruction& inst, int) {
  const Literal* literal = ConstantLiteral(inst);
  if (!literal || !inst.shape().IsScalar()) return false;
  const double value = LiteralValue(*literal, 0);
  return value >= 0 && !std::signbit(value);
}
bool NonNegativeIota(const Instruction& inst, int) {
  const TypeInfo& info = Info(inst.shape().element_type());
  if (info.type_class != TypeClass::Signed || info.bits >= 64) return true;
  return inst.shape().dim(inst.attr<IotaAttrs>().iota_dimension) <= int64_t{1} << (info.bits - 1);
}
// Of signed integers, absolute values and products may overflow.
bool NonNegativeAbs(const Instruction& inst, int depth) {
  return !IsSigned(inst.shape().element_type()) || NonNegative(*inst.operand(0), depth - 1);
}
bool IsSquare(const Instruction& inst, int) {
  return !IsSigned(inst.shape().element_type()) && inst.operand(0) == inst.operand(1);
}
bool NonNegativePower(const Instruction& inst, int depth) {
  return !IsSigned(inst.shape().element_type()) && NonNegative(*inst.operand(0), depth - 1);
}

bool Positive(const Instruction& inst, int depth) {
  static constexpr ByOpKind<Rule*> kRules({
      {OpKind::Constant, PositiveConstant},
      {OpKind::Broadcast, AsOperand<Positive>},
      {OpKind::Maximum, AsEither<Positive>},
      {OpKind::Minimum, AsBoth<Positive>},
  });
  Rule* rule = kRules[inst.kind()];
  return depth > 0 && inst.shape().IsArray() && rule != nullptr && rule(inst, depth);
}

bool NonNegative(const Instruction& inst, int depth) {
  static constexpr ByOpKind<Rule*> kRules({
      {OpKind::Exp, [](const Instruction&, int) { return true; }},
      {OpKind::Abs, NonNegativeAbs},
      {OpKind::Sqrt, AsOperand<Positive>},
      {OpKind::Rsqrt, AsOperand<Positive>},
      {OpKind::Multiply, IsSquare},
      {OpKind::Power, NonNegativePower},
      {OpKind::Iota, NonNegativeIota},
      {OpKind::Broadcast, AsOperand<NonNegative>},
      {OpKind::Constant, NonNegativeConstant},
      {OpKind::Maximum, AsEither<NonNegative>},
      {OpKind::Minimum, AsBoth<NonNegative>},
      {OpKind::Select, AsBoth<NonNegative, 1>},
  });
  if (depth == 0 || !inst.shape().IsArray()) return false;
  const ElementType type = inst.shape().element_type();
  if (IsComplex(type)) return false;
  if (IsUnsigned(type) || IsPred(type)) return true;
  Rule* rule = kRules[inst.kind()];
  return rule != nullptr && rule(inst, depth);
}

}  // namespace

double LiteralValue(const Literal& literal, int64_t linear) {
  const ElementType type = literal.shape().element_type();
  const auto at = static_cast<size_t>(linear);
  if (type == ElementType::C64) return literal.Data<std::complex<float>>()[at].real();
  if (type == ElementType::C128) return literal.Data<std::complex<double>>()[at].real();
  const uint64_t bits = literal.Bits(linear);
  if (IsFloat(type)) return ToDouble(type, bits);
  if (!IsSigned(type)) return static_cast<double>(bits);
  const int unused = 64 - Info(type).bits;
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

bool IsAll(const Instruction& inst, double value) {
  const Instruction* at = &inst;
  while (at->kind() == OpKind::Broadcast || at->kind() == OpKind::Reshape) at = at->operand(0);
  const Literal* literal = ConstantLiteral(*at);
  if (!literal || !literal->shape().IsArray() || literal->shape().ElementCount() == 0) return false;
  // The ends first: most constants differ there already.
  const int64_t last = literal->shape().ElementCount() - 1;
  return ElementIs(*literal, 0, value) && ElementIs(*literal, last, value) && AllElementsEqual(*literal);
}

const Instruction* SplatConstant(const Instruction& inst) {
  const Instruction* at = &inst;
  while (at->kind() == OpKind::Broadcast || at->kind() == OpKind::Reshape) at = at->operand(0);
  const Literal* literal = ConstantLiteral(*at);
  return literal && literal->shape().IsArray() && AllElementsEqual(*literal) ? at : nullptr;
}

Instruction* ScalarOrSplat(Instruction& inst) {
  Instruction* at = &inst;
  while (!at->shape().IsScalar() && (at->kind() == OpKind::Broadcast || at->kind() == OpKind::Reshape))
    at = at->operand(0);
  return at->shape().IsScalar() ? at : nullptr;
}

std::optional<int64_t> ScalarIntValue(const Instruction& inst) {
  const Literal* literal = ConstantLiteral(inst);
  if (!literal || !inst.shape().IsScalar() || !IsIntegral(inst.shape().element_type())) return std::nullopt;
  const TypeInfo& info = Info(inst.shape().element_type());
  const uint64_t bits = literal->Bits(0);
  if (info.type_class != TypeClass::Signed) return static_cast<int64_t>(bits);
  const int unused = 64 - info.bits;
  return static_cast<int64_t>(bits << unused) >> unused;
}

bool IsNonNegative(const Instruction& inst) { return NonNegative(inst, kDepth); }

}  // namespace hlo
