// Floating formats as numbers: field widths, special codes, and the exact rounding into each of them.
#pragma once
#include <bit>
#include <cstdint>

#include "ir/types.h"

namespace hlo {

/// The layout of one real floating type, derived from its row of types.def. Codes are right aligned
/// in a uint64_t; bits above `bits` are ignored on input and zero on output.
struct FloatFormat {
  int bits;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  FloatSpecial special;

  /// E8M0 has neither sign nor zero.
  [[nodiscard]] constexpr bool has_sign() const { return special != FloatSpecial::E8M0; }
  [[nodiscard]] constexpr uint64_t code_mask() const {
    return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  }
  /// The sign bit, or 0.
  [[nodiscard]] constexpr uint64_t sign_mask() const { return has_sign() ? uint64_t{1} << (bits - 1) : 0; }
  [[nodiscard]] constexpr uint64_t mantissa_mask() const { return (uint64_t{1} << mantissa_bits) - 1; }
  /// All exponent bits set: infinity where the format has one.
  [[nodiscard]] constexpr uint64_t exponent_mask() const {
    return ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  }
  [[nodiscard]] constexpr bool has_infinity() const { return special == FloatSpecial::Ieee; }
  [[nodiscard]] constexpr bool has_nan() const { return special != FloatSpecial::Finite; }
  [[nodiscard]] constexpr bool has_negative_zero() const {
    return has_sign() && special != FloatSpecial::Fnuz;
  }
  /// Code of the largest finite value.
  [[nodiscard]] constexpr uint64_t max_finite_code() const {
    const uint64_t all = exponent_mask() | mantissa_mask();
    switch (special) {
      case FloatSpecial::Ieee: return exponent_mask() - 1;
      case FloatSpecial::Fn:
      case FloatSpecial::E8M0: return all - 1;
      default: return all;
    }
  }
  /// The canonical NaN (the top mantissa bit, or the format's only NaN). Formats without NaN give
  /// negative zero, which is what converting a NaN yields.
  [[nodiscard]] constexpr uint64_t nan_code(bool negative) const {
    const uint64_t sign = negative ? sign_mask() : 0;
    switch (special) {
      case FloatSpecial::Ieee: return sign | exponent_mask() | uint64_t{1} << (mantissa_bits - 1);
      case FloatSpecial::Fn: return sign | exponent_mask() | mantissa_mask();
      case FloatSpecial::E8M0: return exponent_mask();
      default: return sign_mask();
    }
  }
  /// What a value too large for the format becomes: infinity, NaN or the largest finite value.
  [[nodiscard]] constexpr uint64_t overflow_code(bool negative) const {
    if (special == FloatSpecial::Ieee) return exponent_mask() | (negative ? sign_mask() : 0);
    if (special == FloatSpecial::Finite) return max_finite_code() | (negative ? sign_mask() : 0);
    return nan_code(negative);
  }
  [[nodiscard]] constexpr bool is_nan(uint64_t code) const {
    const uint64_t magnitude = code & code_mask() & ~sign_mask();
    switch (special) {
      case FloatSpecial::Ieee: return magnitude > exponent_mask();
      case FloatSpecial::Fnuz: return (code & code_mask()) == sign_mask();
      case FloatSpecial::Finite: return false;
      default: return magnitude == (exponent_mask() | mantissa_mask());
    }
  }
};

/// The format of a real floating type, or of the parts of a complex type.
constexpr FloatFormat Format(ElementType type) {
  const TypeInfo& info = Info(RealPartType(type));
  return {info.bits, info.exponent_bits, info.mantissa_bits, ExponentBias(info.type), info.special};
}

/// The binary64 pattern of a code of `format`; exact. NaNs become quiet and keep sign and payload.
constexpr uint64_t DecodeToBinary64(const FloatFormat& format, uint64_t code) {
  code &= format.code_mask();
  if (format.bits == 64) return code;
  const uint64_t sign = (code & format.sign_mask()) != 0 ? uint64_t{1} << 63 : 0;
  const uint64_t magnitude = code & ~format.sign_mask();
  const int up = 52 - format.mantissa_bits;
  const uint64_t infinity = uint64_t{0x7FF} << 52;
  if (format.is_nan(code)) {
    const uint64_t payload = format.has_infinity() ? (magnitude & format.mantissa_mask()) << up : 0;
    return sign | infinity | uint64_t{1} << 51 | payload;
  }
  if (format.has_infinity() && magnitude == format.exponent_mask()) return sign | infinity;
  const uint64_t exponent = magnitude >> format.mantissa_bits;
  uint64_t mantissa = magnitude & format.mantissa_mask();
  const auto biased = [&](uint64_t e) {
    return static_cast<uint64_t>(static_cast<int64_t>(e) - format.bias + 1023);
  };
  if (exponent != 0 || !format.has_sign()) return sign | biased(exponent) << 52 | mantissa << up;
  if (mantissa == 0) return sign;
  // Subnormal: move the leading one to the implicit place.
  const int leading = 63 - std::countl_zero(mantissa);
  mantissa = (mantissa << (52 - leading)) & ((uint64_t{1} << 52) - 1);
  const int e = 1 - format.bias - format.mantissa_bits + leading;
  return sign | static_cast<uint64_t>(e + 1023) << 52 | mantissa;
}

namespace numeric_internal {
/// E8M0: nearest power of two, halves up; between 2^-127 and 2^-126 always up; what is not positive
/// and finite is NaN.
constexpr uint64_t EncodePowerOfTwo(const FloatFormat& format, uint64_t binary64) {
  const int64_t exponent = static_cast<int64_t>(binary64 >> 52) - 1023;  // > 1023 if negative
  const uint64_t mantissa = binary64 & ((uint64_t{1} << 52) - 1);
  if ((binary64 >> 63) != 0 || binary64 == 0 || exponent > 1023) return format.nan_code(false);
  const int64_t code = exponent + format.bias;
  if (code < 0) return 0;
  if (code == 0) return mantissa != 0 ? 1 : 0;
  const auto rounded = static_cast<uint64_t>(code) + (mantissa >> 51);
  return rounded > format.max_finite_code() ? format.nan_code(false) : rounded;
}
}  // namespace numeric_internal

/// The code of `format` nearest to a binary64 pattern: one rounding, ties to even, subnormals kept;
/// overflow, NaN and negative zero by the rules of the format (ops-elementwise §2).
constexpr uint64_t EncodeFromBinary64(const FloatFormat& format, uint64_t binary64) {
  if (format.special == FloatSpecial::E8M0) return numeric_internal::EncodePowerOfTwo(format, binary64);
  if (format.bits == 64) return binary64;
  const bool negative = (binary64 >> 63) != 0;
  const uint64_t magnitude = binary64 & ~(uint64_t{1} << 63);
  const uint64_t infinity = uint64_t{0x7FF} << 52;
  if (magnitude > infinity) return format.nan_code(negative);
  if (magnitude == infinity) return format.overflow_code(negative);

  const int exponent_field = static_cast<int>(magnitude >> 52);
  const uint64_t fraction = magnitude & ((uint64_t{1} << 52) - 1);
  const uint64_t significand = exponent_field == 0 ? fraction : fraction | uint64_t{1} << 52;
  const int exponent = (exponent_field == 0 ? 1 : exponent_field) - 1023;
  const int min_exponent = 1 - format.bias;
  const int below = exponent < min_exponent ? min_exponent - exponent : 0;
  const int wanted = 52 - format.mantissa_bits + below;
  const int shift = wanted > 54 ? 54 : wanted;  // 54 leaves less than half a unit
  const uint64_t remainder = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  uint64_t quotient = significand >> shift;
  quotient += (remainder > half || (remainder == half && (quotient & 1) != 0)) ? 1 : 0;
  // The implicit bit of the quotient raises the exponent field by one, as does a carry.
  const uint64_t steps = below != 0 ? 0 : static_cast<uint64_t>(exponent - min_exponent);
  const uint64_t code = (steps << format.mantissa_bits) + quotient;
  if (code > format.max_finite_code()) return format.overflow_code(negative);
  if (code == 0 && !format.has_negative_zero()) return 0;
  return negative ? code | format.sign_mask() : code;
}

}  // namespace hlo
