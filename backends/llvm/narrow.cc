#include "backends/llvm/narrow.h"

#include "backends/llvm/code_target.h"
#include "backends/llvm/floats.h"

namespace hlo::codegen {
namespace {

using llvm::ConstantInt;
using llvm::IRBuilderBase;
using llvm::Type;
using llvm::Value;

/// Integers of one width, scalar or vector.
struct Integers {
  IRBuilderBase& b;
  Type* type;
  Value* C(uint64_t value) const { return ConstantInt::get(type, value); }
  Value* And(Value* x, uint64_t y) const { return b.CreateAnd(x, C(y)); }
  Value* Or(Value* x, uint64_t y) const { return b.CreateOr(x, C(y)); }
  Value* Add(Value* x, uint64_t y) const { return b.CreateAdd(x, C(y)); }
  Value* Equal(Value* x, uint64_t y) const { return b.CreateICmpEQ(x, C(y)); }
  Value* Above(Value* x, uint64_t y) const { return b.CreateICmpUGT(x, C(y)); }
  Value* Pick(Value* condition, uint64_t x, Value* y) const { return b.CreateSelect(condition, C(x), y); }
  /// x / 2^drop to nearest even, without the carry's care.
  Value* RoundingBias(Value* x, int drop) const {
    Value* odd = And(b.CreateLShr(x, static_cast<uint64_t>(drop)), 1);
    return Add(b.CreateAdd(x, odd), (uint64_t{1} << (drop - 1)) - 1);
  }
};

constexpr uint64_t kInfinity = kF32.exponent_mask(), kSign = kF32.sign_mask();
constexpr uint64_t kQuiet = uint64_t{1} << (kF32.mantissa_bits - 1);
/// The bits of 2^exponent.
constexpr uint64_t BitsOfPower(int64_t exponent) {
  return static_cast<uint64_t>(kF32.bias + exponent) << kF32.mantissa_bits;
}
constexpr FloatFormat kScale = Format(ElementType::F8E8M0FNU);

Integers Wide(IRBuilderBase& b, Value* like) { return {b, SameWidth(b.getInt32Ty(), like->getType())}; }
Value* AsFloat(IRBuilderBase& b, Value* bits) {
  return b.CreateBitCast(bits, SameWidth(b.getFloatTy(), bits->getType()));
}

Value* DecodeScale(const Integers& i, Value* code) {
  Value* power = i.Pick(i.Equal(code, 0), kQuiet, i.b.CreateShl(code, kF32.mantissa_bits));  // code 0: 2^-127
  return AsFloat(i.b, i.Pick(i.Equal(code, kScale.nan_code(false)), kInfinity | kQuiet, power));
}

/// Halves up, what lies between 2^-127 and 2^-126 always up; NaN unless positive and finite.
Value* EncodeScale(const Integers& i, Value* bits) {
  Value* tiny = i.b.CreateICmpULT(bits, i.C(uint64_t{1} << kF32.mantissa_bits));
  Value* rounded = i.b.CreateAdd(bits, i.b.CreateSelect(tiny, i.C(kQuiet - 1), i.C(kQuiet)));
  Value* code = i.b.CreateLShr(rounded, kF32.mantissa_bits);
  // From 1 up to the largest finite number.
  Value* outside = i.Above(i.Add(bits, ~uint64_t{0}), kInfinity - 2);
  return i.Pick(outside, kScale.nan_code(false), code);
}

/// Whether codes, moved up, are F16 numbers but for a power of two and special ones.
bool IsPartOfF16(const FloatFormat& f) {
  return f.special != FloatSpecial::E8M0 && (f.exponent_bits < kF16.exponent_bits ||
                                             (f.exponent_bits == kF16.exponent_bits && f.has_infinity()));
}

/// A power of two by which numbers of the format are F16 numbers of the same bits, moved up.
Value* PowerOfF16(const Integers& wide, int64_t power) { return AsFloat(wide.b, wide.C(BitsOfPower(power))); }

/// By way of F16, which processors widen: subnormals too.
Value* DecodeByF16(IRBuilderBase& b, const FloatFormat& f, Value* codes) {
  const Integers i{b, SameWidth(b.getInt16Ty(), codes->getType())};
  const auto up = static_cast<uint64_t>(kF16.mantissa_bits - f.mantissa_bits);
  const uint64_t largest = f.code_mask() & ~f.sign_mask();
  // The sign of a byte is in all bits above it.
  const bool whole = f.bits == CHAR_BIT;
  Value* code = whole ? b.CreateSExt(codes, i.type) : b.CreateZExt(codes, i.type);
  Value* magnitude = i.And(code, largest);
  Value* bits = b.CreateShl(whole ? code : magnitude, up);
  constexpr uint64_t kHalfInfinity = kF16.exponent_mask(), kHalfNan = kF16.nan_code(false),
                     kHalfSign = kF16.sign_mask();
  Value* sign = b.CreateShl(i.And(code, f.sign_mask()), static_cast<uint64_t>(kF16.bits - f.bits));
  bits = whole ? i.And(bits, kHalfSign | largest << up) : b.CreateOr(bits, sign);
  if (f.has_infinity() && f.exponent_bits < kF16.exponent_bits) {
    bits = b.CreateSelect(i.Above(magnitude, f.exponent_mask() - 1), i.Or(bits, kHalfInfinity), bits);
    bits = b.CreateSelect(i.Above(magnitude, f.exponent_mask()), i.Or(bits, kHalfNan), bits);
  } else if (f.special == FloatSpecial::Fn) {
    const uint64_t nan = f.exponent_mask() | f.mantissa_mask();
    bits = b.CreateSelect(i.Equal(magnitude, nan), b.CreateXor(bits, i.C(kHalfNan ^ nan << up)), bits);
  } else if (f.special == FloatSpecial::Fnuz) {
    bits = b.CreateSelect(i.Equal(bits, kHalfSign), i.C(kHalfSign | kHalfNan), bits);
  }
  Value* half = b.CreateBitCast(bits, SameWidth(b.getHalfTy(), codes->getType()));
  Value* number = b.CreateFPExt(half, SameWidth(b.getFloatTy(), codes->getType()));
  const int64_t power = kF16.bias - static_cast<int64_t>(f.bias);
  return power == 0 ? number : b.CreateFMul(number, PowerOfF16(Wide(b, codes), power));
}

/// x to nearest even, as a number of the format with any exponent: added to a number whose last place is
/// theirs, and taken off again.
Value* RoundedAt(const Integers& wide, const FloatFormat& f, Value* x) {
  IRBuilderBase& b = wide.b;
  constexpr int64_t kBeyondAll = 40;
  Value* exponent = wide.And(b.CreateBitCast(x, wide.type), kInfinity);
  const uint64_t least = BitsOfPower(1 - f.bias);
  exponent = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, exponent, wide.C(least));
  exponent = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, exponent, wide.C(BitsOfPower(kBeyondAll)));
  Value* power = AsFloat(b, exponent);
  const uint64_t anchor = BitsOfPower(kF32.mantissa_bits - f.mantissa_bits) | kQuiet;  // 1.5 * 2^n
  const auto fma = [&](uint64_t factor, Value* addend) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()},
                             {power, AsFloat(b, wide.C(factor)), addend});
  };
  Value* rounded = fma(anchor | kSign, fma(anchor, x));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rounded, x);
}

/// By way of F16, whose numbers hold those of the format with the same bits.
Value* EncodeByF16(IRBuilderBase& b, const FloatFormat& f, Value* x) {
  const Integers wide = Wide(b, x), i{b, SameWidth(b.getInt16Ty(), x->getType())};
  Value* number = RoundedAt(wide, f, x);
  const int64_t power = static_cast<int64_t>(f.bias) - kF16.bias;
  if (power != 0) number = b.CreateFMul(number, PowerOfF16(wide, power));
  Value* half = b.CreateFPTrunc(number, SameWidth(b.getHalfTy(), x->getType()));
  Value* bits = b.CreateBitCast(half, i.type);
  constexpr uint64_t kHalfInfinity = kF16.exponent_mask();
  Value* magnitude = i.And(bits, kF16.code_mask() & ~kF16.sign_mask());
  Value* code = b.CreateLShr(magnitude, static_cast<uint64_t>(kF16.mantissa_bits - f.mantissa_bits));
  const uint64_t overflow = f.overflow_code(false), nan = f.nan_code(false);
  const auto at_most = [&](uint64_t most) {
    code = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, code, i.C(most));
  };
  if (overflow == nan && nan == f.max_finite_code() + 1) {
    at_most(nan);
  } else if (f.exponent_bits == kF16.exponent_bits) {  // what overflows is infinite as F16
    at_most(nan);
  } else {
    code = i.Pick(i.Above(code, f.max_finite_code()), overflow, code);
    code = i.Pick(i.Above(magnitude, kHalfInfinity), nan, code);
  }
  Value* sign = i.And(b.CreateLShr(bits, static_cast<uint64_t>(kF16.bits - f.bits)), f.sign_mask());
  if (!f.has_negative_zero()) sign = b.CreateSelect(i.Equal(code, 0), code, sign);
  return b.CreateTrunc(b.CreateOr(code, sign), SameWidth(b.getInt8Ty(), x->getType()));
}

}  // namespace

bool IsByteFloat(ElementType type) { return IsFloat(type) && Info(type).bits <= CHAR_BIT; }

Value* DecodeByteFloat(IRBuilderBase& b, ElementType type, Value* codes) {
  const FloatFormat f = Format(type);
  if (IsPartOfF16(f) && CodeTargetOf(b).facts().halves) return DecodeByF16(b, f, codes);
  const Integers i = Wide(b, codes);
  Value* code = b.CreateZExt(codes, i.type);
  if (f.special == FloatSpecial::E8M0) return DecodeScale(i, code);
  if (f.bits < CHAR_BIT) code = i.And(code, f.code_mask());
  Value* magnitude = i.And(code, f.code_mask() & ~f.sign_mask());
  Value* sign = b.CreateShl(i.And(code, f.sign_mask()), static_cast<uint64_t>(kF32.bits - f.bits));
  const auto up = static_cast<uint64_t>(kF32.mantissa_bits - f.mantissa_bits);
  Value* shifted = b.CreateShl(magnitude, up);
  Value* bits = i.Add(shifted, BitsOfPower(-f.bias));
  // Subnormals are whole multiples of the smallest.
  const uint64_t least = BitsOfPower(1 - f.bias - f.mantissa_bits);
  Value* number = b.CreateUIToFP(magnitude, SameWidth(b.getFloatTy(), codes->getType()));
  Value* small = b.CreateBitCast(b.CreateFMul(number, AsFloat(b, i.C(least))), i.type);
  const uint64_t first_normal = uint64_t{1} << f.mantissa_bits;
  bits = b.CreateSelect(b.CreateICmpULT(magnitude, i.C(first_normal)), small, bits);
  if (f.has_infinity()) {
    Value* nan = i.Above(magnitude, f.exponent_mask());
    Value* special = b.CreateSelect(nan, i.Or(shifted, kInfinity | kQuiet), i.C(kInfinity));
    bits = b.CreateSelect(i.Above(magnitude, f.exponent_mask() - 1), special, bits);
  } else if (f.special == FloatSpecial::Fn) {
    bits = i.Pick(i.Equal(magnitude, f.exponent_mask() | f.mantissa_mask()), kInfinity | kQuiet, bits);
  } else if (f.special == FloatSpecial::Fnuz) {
    bits = i.Pick(i.Equal(code, f.sign_mask()), kInfinity | kQuiet, bits);
  }
  return AsFloat(b, b.CreateOr(bits, sign));
}

Value* EncodeByteFloat(IRBuilderBase& b, ElementType type, Value* x) {
  const FloatFormat f = Format(type);
  if (IsPartOfF16(f) && CodeTargetOf(b).facts().halves) return EncodeByF16(b, f, x);
  const Integers i = Wide(b, x);
  Type* byte = SameWidth(b.getInt8Ty(), x->getType());
  Value* bits = b.CreateBitCast(x, i.type);
  if (f.special == FloatSpecial::E8M0) return b.CreateTrunc(EncodeScale(i, bits), byte);
  Value* magnitude = i.And(bits, kF32.code_mask() & ~kSign);
  const int drop = kF32.mantissa_bits - f.mantissa_bits;
  Value* normal = b.CreateLShr(i.RoundingBias(magnitude, drop), static_cast<uint64_t>(drop));
  normal = i.Add(normal, 0 - (static_cast<uint64_t>(kF32.bias - f.bias) << f.mantissa_bits));
  // A sum with a number whose last place is the smallest subnormal.
  const uint64_t anchor = BitsOfPower(1 - f.bias - f.mantissa_bits + kF32.mantissa_bits);
  Value* sum = b.CreateFAdd(AsFloat(b, magnitude), AsFloat(b, i.C(anchor)));
  Value* small = b.CreateSub(b.CreateBitCast(sum, i.type), i.C(anchor));
  const uint64_t least_normal = BitsOfPower(1 - f.bias);
  Value* code = b.CreateSelect(b.CreateICmpULT(magnitude, i.C(least_normal)), small, normal);
  code = i.Pick(i.Above(code, f.max_finite_code()), f.overflow_code(false), code);
  code = i.Pick(i.Above(magnitude, kInfinity), f.nan_code(false), code);
  Value* sign = i.And(b.CreateLShr(bits, static_cast<uint64_t>(kF32.bits - f.bits)), f.sign_mask());
  if (!f.has_negative_zero()) sign = b.CreateSelect(i.Equal(code, 0), code, sign);
  return b.CreateTrunc(b.CreateOr(code, sign), byte);
}

Value* RoundToOdd(IRBuilderBase& b, Value* x) {
  Value* rounded = b.CreateFPTrunc(x, SameWidth(b.getFloatTy(), x->getType()));
  Value* back = b.CreateFPExt(rounded, x->getType());
  auto absolute = [&](Value* v) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  const Integers i = Wide(b, x);
  Value* bits = b.CreateBitCast(rounded, i.type);
  Value* above = b.CreateZExt(b.CreateFCmpOGT(absolute(back), absolute(x)), i.type);
  Value* odd = i.Or(b.CreateSub(bits, above), 1);
  return AsFloat(b, b.CreateSelect(b.CreateFCmpONE(back, x), odd, bits));
}

Value* ReducePrecisionOf(IRBuilderBase& b, ElementType type, Value* codes, int64_t exponent_bits,
                         int64_t mantissa_bits) {
  const FloatFormat f = Format(type);
  const Integers i{b, codes->getType()};
  Value* sign = i.And(codes, f.sign_mask());
  Value* magnitude = i.And(codes, f.code_mask() & ~f.sign_mask());
  Value* result = magnitude;
  if (mantissa_bits < f.mantissa_bits) {
    const auto drop = static_cast<int>(f.mantissa_bits - mantissa_bits);
    result = i.And(i.RoundingBias(magnitude, drop), f.code_mask() & ~((uint64_t{1} << drop) - 1));
  }
  Value* too_large = i.Above(result, f.max_finite_code());
  if (exponent_bits < f.exponent_bits) {
    const int64_t reach = (int64_t{1} << (exponent_bits - 1)) - 1;
    Value* exponent = b.CreateLShr(result, static_cast<uint64_t>(f.mantissa_bits));
    const uint64_t largest = f.bias + reach, smallest = f.bias - reach;
    too_large = b.CreateOr(too_large, i.Above(exponent, largest));
    Value* too_small = b.CreateICmpULE(exponent, i.C(smallest));
    result = i.Pick(too_small, 0, result);
  }
  Value* overflow = i.C(f.overflow_code(false));
  result = b.CreateSelect(too_large, overflow, result);
  if (!f.has_negative_zero()) sign = b.CreateSelect(i.Equal(result, 0), result, sign);
  result = b.CreateOr(result, sign);
  // NaN and infinity stay.
  Value* keep = nullptr;
  if (f.has_infinity())
    keep = i.Above(magnitude, f.exponent_mask() - 1);
  else if (f.special == FloatSpecial::Fnuz)
    keep = i.Equal(i.And(codes, f.code_mask()), f.sign_mask());
  else if (f.has_nan())
    keep = i.Equal(magnitude, f.exponent_mask() | f.mantissa_mask());
  return keep == nullptr ? result : b.CreateSelect(keep, codes, result);
}

}  // namespace hlo::codegen
