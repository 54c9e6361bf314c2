#include "backends/gpu/emulator/soft_float.h"

#include <bit>

#include "llvm/ADT/APFloat.h"

namespace hlo::gpu {
namespace {

using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;
using ptx::Instruction;
using ptx::Kind;
using ptx::Mod;
using ptx::Type;

const llvm::fltSemantics& Semantics(Type type) {
  static const std::pair<Type, const llvm::fltSemantics*> kSemantics[] = {
      {Type::F16, &APFloat::IEEEhalf()},      {Type::BF16, &APFloat::BFloat()},
      {Type::F32, &APFloat::IEEEsingle()},    {Type::F64, &APFloat::IEEEdouble()},
      {Type::E4M3, &APFloat::Float8E4M3FN()}, {Type::E5M2, &APFloat::Float8E5M2()},
      {Type::TF32, &APFloat::FloatTF32()}};
  for (const auto& [of, semantics] : kSemantics)
    if (of == type) return *semantics;
  llvm_unreachable("no type of floats");
}

APFloat ToApFloat(Type type, uint64_t bits) { return {Semantics(type), APInt(ptx::BitsOf(type), bits)}; }

APFloat::roundingMode RoundingOf(const Instruction& inst) {
  static constexpr std::pair<Mod, APFloat::roundingMode> kModes[] = {
      {Mod::Rz, APFloat::rmTowardZero},        {Mod::Rm, APFloat::rmTowardNegative},
      {Mod::Rp, APFloat::rmTowardPositive},    {Mod::Rzi, APFloat::rmTowardZero},
      {Mod::Rmi, APFloat::rmTowardNegative},   {Mod::Rpi, APFloat::rmTowardPositive},
      {Mod::Rna, APFloat::rmNearestTiesToAway}};
  for (const auto& [mod, mode] : kModes)
    if (inst.Has(mod)) return mode;
  return APFloat::rmNearestTiesToEven;
}

uint64_t BitsOfFloat(Type type, const APFloat& value) {
  if (value.isNaN()) return CanonicalNan(type);
  return value.bitcastToAPInt().getZExtValue();
}

/// sqrt(x) with a rounding: the nearest one, and its neighbour where it lies on the wrong side of the root.
APFloat RootOf(const APFloat& x, APFloat::roundingMode mode, Type type) {
  if (x.isNaN() || x.isZero() || (x.isInfinity() && !x.isNegative())) return x;
  if (x.isNegative()) return APFloat::getNaN(x.getSemantics());
  APFloat root =
      type == Type::F32 ? APFloat(std::sqrt(x.convertToFloat())) : APFloat(std::sqrt(x.convertToDouble()));
  if (mode == APFloat::rmNearestTiesToEven) return root;
  APFloat rest = root;
  APFloat minus = x;
  minus.changeSign();
  rest.fusedMultiplyAdd(root, minus, APFloat::rmNearestTiesToEven);  // root² - x: its sign is exact
  if (mode == APFloat::rmTowardPositive && rest.isNegative() && !rest.isZero()) root.next(/*nextDown=*/false);
  if (mode != APFloat::rmTowardPositive && !rest.isNegative() && !rest.isZero()) root.next(/*nextDown=*/true);
  return root;
}

int Sign(double x) { return x < 0 ? -1 : x > 0 ? 1 : 0; }

double ApproximationOf(const Instruction& inst, double x, double y, bool f64) {
  switch (inst.kind()) {
    case Kind::Ex2: return std::exp2(x);
    case Kind::Lg2: return std::log2(x);
    case Kind::Sin: return std::sin(x);
    case Kind::Cos: return std::cos(x);
    case Kind::Tanh: return std::tanh(x);
    case Kind::Rsqrt: return 1 / std::sqrt(x);
    case Kind::RcpApprox: return 1 / x;
    case Kind::SqrtApprox: return std::sqrt(x);
    case Kind::FDivApprox:
      // Divisors whose reciprocal is subnormal give 0 (ptx.md §2.3).
      if (!f64 && inst.Has(Mod::Approx) && std::abs(y) > 0x1p126 && std::isfinite(y))
        return std::isinf(x) ? NAN : std::copysign(0.0, Sign(x) * Sign(y));
      return x / y;
    default: llvm_unreachable("no approximation");
  }
}

/// An integer of the source's type, clamped to the destination's.
uint64_t ClampInteger(const Instruction& inst, uint64_t a) {
  const Type to = inst.type(0), from = inst.type(1);
  const APSInt value(APInt(ptx::BitsOf(from), a), !ptx::IsSigned(from));
  const APSInt wide = value.extend(80);
  const unsigned bits = ptx::BitsOf(to);
  const bool is_signed = ptx::IsSigned(to);
  const APSInt low = APSInt::getMinValue(bits, !is_signed).extend(80);
  const APSInt high = APSInt::getMaxValue(bits, !is_signed).extend(80);
  APSInt signed_wide(wide, false), signed_low(low, false), signed_high(high, false);
  if (signed_wide < signed_low) signed_wide = signed_low;
  if (signed_wide > signed_high) signed_wide = signed_high;
  return signed_wide.trunc(bits).getZExtValue();
}

/// Float to integer: clamps; NaN by the table of ptx.md §2.4.
uint64_t FloatToInteger(const Instruction& inst, const APFloat& x) {
  const Type to = inst.type(0), from = inst.type(1);
  const unsigned bits = ptx::BitsOf(to);
  if (x.isNaN()) return from == Type::F64 || bits == 64 ? uint64_t{1} << (bits - 1) : 0;
  APSInt result(bits, !ptx::IsSigned(to));
  bool exact = false;
  x.convertToInteger(result, RoundingOf(inst), &exact);  // saturates
  return result.getZExtValue();
}

APFloat SaturateFloat(APFloat x) {
  const APFloat zero = APFloat::getZero(x.getSemantics()), one = APFloat::getOne(x.getSemantics());
  if (x.isNaN() || x.isNegative() || x.isZero()) return zero;
  return x > one ? one : x;
}

/// To a narrow type whose largest numbers stand for what is larger.
uint64_t ToSatfinite(Type to, const APFloat& x, APFloat::roundingMode mode, bool finite) {
  APFloat result = x;
  bool lost = false;
  result.convert(Semantics(to), mode, &lost);
  if (x.isNaN()) return CanonicalNan(to);
  if (finite && (result.isInfinity() || result.isNaN()))
    result = APFloat::getLargest(Semantics(to), x.isNegative());
  return result.bitcastToAPInt().getZExtValue();
}

uint64_t ConvertFloat(const Instruction& inst, Type to, Type from, uint64_t a) {
  APFloat x = ToApFloat(from, a);
  const bool flush = inst.Has(Mod::Ftz);
  if (flush && from == Type::F32 && x.isDenormal()) x = APFloat::getZero(x.getSemantics(), x.isNegative());
  const bool integral = inst.Has(Mod::Rni) || inst.Has(Mod::Rzi) || inst.Has(Mod::Rmi) || inst.Has(Mod::Rpi);
  if (integral) x.roundToIntegral(RoundingOf(inst));
  if (inst.Has(Mod::Relu) && !x.isNaN() && x.isNegative()) x = APFloat::getZero(x.getSemantics());
  if (to == Type::TF32) {
    if (x.isNaN()) return 0x7fffffff;
    bool lost = false;
    x.convert(Semantics(Type::TF32), RoundingOf(inst), &lost);
    x.convert(APFloat::IEEEsingle(), APFloat::rmTowardZero, &lost);
    return x.bitcastToAPInt().getZExtValue() & ~uint64_t{0x1fff};
  }
  if (to == Type::E4M3 || to == Type::E5M2 || inst.Has(Mod::Satfinite))
    return ToSatfinite(to, x, RoundingOf(inst), inst.Has(Mod::Satfinite));
  const bool nan = x.isNaN();
  bool lost = false;
  x.convert(Semantics(to), integral ? APFloat::rmNearestTiesToEven : RoundingOf(inst), &lost);
  if (inst.Has(Mod::Sat)) x = SaturateFloat(x);
  if (flush && to == Type::F32 && x.isDenormal()) x = APFloat::getZero(x.getSemantics(), x.isNegative());
  // Between f32 and f64 payloads are kept, elsewhere NaNs are the one of the type.
  if (nan && x.isNaN() && ptx::BitsOf(to) + ptx::BitsOf(from) == 96) return x.bitcastToAPInt().getZExtValue();
  return BitsOfFloat(to, x);
}

Type ElementOf(Type type) {
  static constexpr std::pair<Type, Type> kElements[] = {{Type::F16x2, Type::F16},
                                                        {Type::BF16x2, Type::BF16},
                                                        {Type::E4M3x2, Type::E4M3},
                                                        {Type::E5M2x2, Type::E5M2}};
  for (const auto& [pair, element] : kElements)
    if (pair == type) return element;
  return type;
}

}  // namespace

uint64_t CanonicalNan(Type type) {
  static constexpr std::pair<Type, uint64_t> kNans[] = {
      {Type::F16, 0x7fff}, {Type::BF16, 0x7fff}, {Type::F32, 0x7fffffff}, {Type::F64, 0x7ff8000000000000},
      {Type::E4M3, 0x7f},  {Type::E5M2, 0x7f},   {Type::TF32, 0x7fffffff}};
  for (const auto& [of, nan] : kNans)
    if (of == type) return nan;
  return 0;
}

double ToDouble(Type type, uint64_t bits) {
  APFloat x = ToApFloat(type, bits);
  bool lost = false;
  x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return x.convertToDouble();
}

uint64_t FromDouble(Type type, double value) {
  APFloat x(value);
  bool lost = false;
  x.convert(Semantics(type), APFloat::rmNearestTiesToEven, &lost);
  return BitsOfFloat(type, x);
}

uint64_t SoftArithmetic(const Instruction* inst, uint32_t scalar, uint64_t a, uint64_t b, uint64_t c) {
  const auto type = static_cast<Type>(scalar);
  const APFloat::roundingMode mode = RoundingOf(*inst);
  APFloat x = ToApFloat(type, a);
  const APFloat y = ToApFloat(type, b);
  switch (inst->kind()) {
    case Kind::FAdd: x.add(y, mode); break;
    case Kind::FSub: x.subtract(y, mode); break;
    case Kind::FMul: x.multiply(y, mode); break;
    case Kind::FDiv: x.divide(y, mode); break;
    case Kind::Fma: x.fusedMultiplyAdd(y, ToApFloat(type, c), mode); break;
    case Kind::Rcp: {
      APFloat one = APFloat::getOne(x.getSemantics());
      one.divide(x, mode);
      x = one;
      break;
    }
    case Kind::Sqrt: x = RootOf(x, mode, type); break;
    default: llvm_unreachable("no arithmetic");
  }
  return BitsOfFloat(type, x);
}

uint64_t Approximate(const Instruction* inst, uint32_t scalar, uint64_t a, uint64_t b) {
  const auto type = static_cast<Type>(scalar);
  const double y = inst->kind() == Kind::FDivApprox ? ToDouble(type, b) : 0;
  const uint64_t bits = FromDouble(type, ApproximationOf(*inst, ToDouble(type, a), y, type == Type::F64));
  // 20 bits of mantissa, nothing in the low half.
  const bool short_f64 = type == Type::F64 && inst->Has(Mod::Ftz);
  return short_f64 ? bits & ~uint64_t{0xffffffff} : bits;
}

uint64_t Convert(const Instruction* inst, uint64_t a, uint64_t b) {
  const Type to = inst->type(0), from = inst->type(1);
  if (ptx::IsInteger(to))
    return ptx::IsInteger(from) ? ClampInteger(*inst, a) : [&] {
      APFloat x = ToApFloat(from, a);
      if (inst->Has(Mod::Ftz) && x.isDenormal()) x = APFloat::getZero(x.getSemantics());
      return FloatToInteger(*inst, x);
    }();
  if (ptx::IsInteger(from)) {
    APFloat x(Semantics(to));
    x.convertFromAPInt(APInt(ptx::BitsOf(from), a), ptx::IsSigned(from), RoundingOf(*inst));
    return BitsOfFloat(to, inst->Has(Mod::Sat) ? SaturateFloat(x) : x);
  }
  const Type to_element = ElementOf(to), from_element = ElementOf(from);
  if (to_element == to) return ConvertFloat(*inst, to, from, a);
  // Pairs: of two numbers, the first in the upper half; or of a pair.
  const unsigned bits = ptx::BitsOf(to_element), from_bits = ptx::BitsOf(from_element);
  const uint64_t mask = (uint64_t{1} << from_bits) - 1;
  const uint64_t high = from_element == from ? a : a >> from_bits, low = from_element == from ? b : a;
  return ConvertFloat(*inst, to_element, from_element, high & mask) << bits |
         ConvertFloat(*inst, to_element, from_element, low & mask);
}

}  // namespace hlo::gpu
