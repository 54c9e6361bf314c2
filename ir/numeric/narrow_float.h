// Conversions between codes of every floating type and float or double, one by one and in bulk.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "ir/numeric/float_format.h"
#include "ir/types.h"

namespace hlo {

// A "code" is the bit pattern of one element, right aligned; bits above the width of the type are
// ignored. `type` is a real floating type everywhere; other types are a programming error.

/// The value of a code; exact. NaN keeps its sign and, where the type has payloads, its payload.
double ToDouble(ElementType type, uint64_t code);
/// As ToDouble; F64 is rounded to nearest even, everything else is exact.
float ToFloat(ElementType type, uint64_t code);

/// Rounds once to nearest even, with the rules of ops-elementwise §2 for overflow, NaN, negative zero
/// and E8M0. BF16 is reached through F32, as everywhere in XLA.
uint64_t FromDouble(ElementType type, double value);
/// As FromDouble; a conversion from float never rounds twice.
uint64_t FromFloat(ElementType type, float value);
/// Integer to float: one rounding, except that BF16 and E8M0 are reached through F32.
uint64_t FromSigned(ElementType type, int64_t value);
uint64_t FromUnsigned(ElementType type, uint64_t value);

/// Truncates toward zero and saturates to [min, max]; NaN becomes 0 (ops-elementwise §2).
int64_t SaturateToSigned(double value, int64_t min, int64_t max);
uint64_t SaturateToUnsigned(double value, uint64_t max);

/// Bulk conversions of `n` elements. Elements of types narrower than a byte occupy one byte each
/// (value in the low bits); `in` and `out` are aligned for their element and do not overlap.
void WidenToFloat(ElementType type, const void* in, float* out, size_t n);
void WidenToDouble(ElementType type, const void* in, double* out, size_t n);
void NarrowFromFloat(ElementType type, const float* in, void* out, size_t n);
void NarrowFromDouble(ElementType type, const double* in, void* out, size_t n);

/// reduce-precision (ops-elementwise §6.2) of a code of `type` in the field widths of `type`:
/// mantissa rounded to nearest even, then exponents out of range become infinity (what the type has
/// instead, if none) or signed zero. NaN is unchanged. exponent_bits >= 1, mantissa_bits >= 0.
uint64_t ReducePrecision(ElementType type, uint64_t code, int exponent_bits, int mantissa_bits);

/// E8M0 has no zero and no subnormals, yet its smallest value 2^-127 is a subnormal F32, the type its
/// arithmetic uses: operands and results of magnitude below 2^-126 count as 0 (and 0 converts to NaN)
/// in operations with the trait kFlushing (ir/ops.def), as on CPUs; not in others, copies and conversions.
constexpr double FlushToZero(double value) {
  return value > -0x1p-126 && value < 0x1p-126 ? value * 0 : value;
}

// What text needs to know about a type.

constexpr bool HasInfinity(ElementType type) { return Format(type).has_infinity(); }
constexpr bool HasNan(ElementType type) { return Format(type).has_nan(); }
constexpr bool HasNegativeZero(ElementType type) { return Format(type).has_negative_zero(); }
constexpr bool IsNanCode(ElementType type, uint64_t code) { return Format(type).is_nan(code); }
/// The sign bit of a code; false for E8M0.
constexpr bool SignBit(ElementType type, uint64_t code) { return (code & Format(type).sign_mask()) != 0; }
/// Whether NaNs of the type carry a payload worth printing (the types with infinities).
constexpr bool HasNanPayload(ElementType type) { return Format(type).has_infinity(); }
/// Mantissa field of a code: the payload of a NaN.
constexpr uint64_t MantissaField(ElementType type, uint64_t code) {
  return code & Format(type).mantissa_mask();
}
/// Default quiet NaN with a sign; negative zero for types without NaN.
constexpr uint64_t NanCode(ElementType type, bool negative = false) {
  return Format(type).nan_code(negative);
}
/// A NaN with a payload of at most mantissa_bits bits, not 0; only where HasNanPayload.
constexpr uint64_t NanWithPayload(ElementType type, bool negative, uint64_t payload) {
  const FloatFormat f = Format(type);
  return (negative ? f.sign_mask() : 0) | f.exponent_mask() | (payload & f.mantissa_mask());
}
/// What an infinite value converts to: infinity, NaN or the largest finite value.
constexpr uint64_t InfinityCode(ElementType type, bool negative = false) {
  return Format(type).overflow_code(negative);
}
constexpr double MaxFinite(ElementType type) {
  return std::bit_cast<double>(DecodeToBinary64(Format(type), Format(type).max_finite_code()));
}
/// Smallest positive normal value (E8M0: smallest value).
constexpr double MinNormal(ElementType type) {
  const FloatFormat f = Format(type);
  return std::bit_cast<double>(DecodeToBinary64(f, f.has_sign() ? uint64_t{1} << f.mantissa_bits : 0));
}
/// Distance from 1 to the next larger value.
constexpr double Epsilon(ElementType type) {
  return std::bit_cast<double>(static_cast<uint64_t>(1023 - Format(type).mantissa_bits) << 52);
}

}  // namespace hlo
