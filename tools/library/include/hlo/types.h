// Element types, and the types of C++ that hold them.
#pragma once
#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace hlo_toolkit {

/// Numbers are those of XLA's messages. Values that are no arrays have types as well.
enum PrimitiveType : int {
  PRIMITIVE_TYPE_INVALID = 0,  // NOLINT(readability-identifier-naming): a name of XLA's
#define HLO_PRIMITIVE(Name, number, text) Name = number,
#include "hlo/types.def"
  TUPLE = 13,
  OPAQUE_TYPE = 14,  // NOLINT(readability-identifier-naming): a name of XLA's
  TOKEN = 17,
  BUFFER = 34,
};

/// `f32`; empty for what is no type.
std::string_view PrimitiveTypeName(PrimitiveType type);
/// PRIMITIVE_TYPE_INVALID for unknown names.
PrimitiveType PrimitiveTypeFromName(std::string_view name);
bool IsArrayType(PrimitiveType type);
/// Bits of one element; 0 for what is no array type.
int BitWidth(PrimitiveType type);
/// Bytes of one element in a Literal; 0 for what is no array type.
int ByteWidth(PrimitiveType type);
bool IsIntegral(PrimitiveType type);
bool IsSigned(PrimitiveType type);
bool IsFloatingPoint(PrimitiveType type);
bool IsComplex(PrimitiveType type);

namespace internal {
float FloatOfBits(PrimitiveType type, uint64_t bits);
uint64_t BitsOfFloat(PrimitiveType type, float value);
}  // namespace internal

/// A floating type that C++ does not have: its bits. Arithmetic is up to the reader; conversions round to
/// nearest even.
template <PrimitiveType type, class Bits>
struct FloatBits {
  static constexpr PrimitiveType kType = type;
  Bits bits = 0;

  FloatBits() = default;
  explicit FloatBits(float value) : bits(static_cast<Bits>(internal::BitsOfFloat(type, value))) {}
  static FloatBits FromBits(Bits bits) {
    FloatBits made;
    made.bits = bits;
    return made;
  }
  explicit operator float() const { return internal::FloatOfBits(type, bits); }
  bool operator==(const FloatBits&) const = default;
};
// NOLINTBEGIN(readability-identifier-naming): names of the documents and of ml_dtypes
using half = FloatBits<F16, uint16_t>;
using bfloat16 = FloatBits<BF16, uint16_t>;
using float8_e5m2 = FloatBits<F8E5M2, uint8_t>;
using float8_e4m3fn = FloatBits<F8E4M3FN, uint8_t>;
using float8_e4m3b11fnuz = FloatBits<F8E4M3B11FNUZ, uint8_t>;
using float8_e5m2fnuz = FloatBits<F8E5M2FNUZ, uint8_t>;
using float8_e4m3fnuz = FloatBits<F8E4M3FNUZ, uint8_t>;
using float8_e4m3 = FloatBits<F8E4M3, uint8_t>;
using float8_e3m4 = FloatBits<F8E3M4, uint8_t>;
using float8_e8m0fnu = FloatBits<F8E8M0FNU, uint8_t>;
using float6_e2m3fn = FloatBits<F6E2M3FN, uint8_t>;
using float6_e3m2fn = FloatBits<F6E3M2FN, uint8_t>;
using float4_e2m1fn = FloatBits<F4E2M1FN, uint8_t>;

/// An integer narrower than a byte, kept in one: sign- or zero-extended.
template <PrimitiveType type, class Storage, int width>
struct NarrowInteger {
  static constexpr PrimitiveType kType = type;
  Storage value = 0;

  NarrowInteger() = default;
  /// Wraps around.
  constexpr explicit NarrowInteger(int from)
      : value(static_cast<Storage>(std::is_signed_v<Storage> ? (from & (1 << (width - 1))) != 0
                                                                   ? from | (-1 << width)
                                                                   : from & ((1 << width) - 1)
                                                             : from & ((1 << width) - 1))) {}
  explicit operator int() const { return value; }
  bool operator==(const NarrowInteger&) const = default;
};
using s1 = NarrowInteger<S1, int8_t, 1>;
using s2 = NarrowInteger<S2, int8_t, 2>;
using s4 = NarrowInteger<S4, int8_t, 4>;
using u1 = NarrowInteger<U1, uint8_t, 1>;
using u2 = NarrowInteger<U2, uint8_t, 2>;
using u4 = NarrowInteger<U4, uint8_t, 4>;
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;
// NOLINTEND(readability-identifier-naming)

/// The element type whose values are Ts.
template <class T>
constexpr PrimitiveType NativeToPrimitiveType() {
  if constexpr (std::is_same_v<T, bool>)
    return PRED;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1 ? S8 : sizeof(T) == 2 ? S16 : sizeof(T) == 4 ? S32 : S64;
  else if constexpr (std::is_integral_v<T>)
    return sizeof(T) == 1 ? U8 : sizeof(T) == 2 ? U16 : sizeof(T) == 4 ? U32 : U64;
  else if constexpr (std::is_same_v<T, float>)
    return F32;
  else if constexpr (std::is_same_v<T, double>)
    return F64;
  else if constexpr (std::is_same_v<T, complex64>)
    return C64;
  else if constexpr (std::is_same_v<T, complex128>)
    return C128;
  else
    return T::kType;
}

}  // namespace hlo_toolkit
