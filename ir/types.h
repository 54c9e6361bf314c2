// Element types and their facts (ir/types.def).
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "llvm/ADT/StringRef.h"

namespace hlo {

enum class ElementType : uint8_t {
#define HLO_TYPE(Kind, ...) Kind,
#include "ir/types.def"
};

enum class TypeClass : uint8_t { None, Pred, Signed, Unsigned, Float, Complex };

/// How the top codes of a floating format are used.
enum class FloatSpecial : uint8_t { NA, Ieee, Fn, Fnuz, Finite, E8M0 };

/// One row of types.def.
struct TypeInfo {
  ElementType type;
  llvm::StringRef text;
  uint8_t primitive_type;
  uint8_t bits;
  TypeClass type_class;
  uint8_t exponent_bits;
  uint8_t mantissa_bits;
  FloatSpecial special;

  /// Bytes of one element when elements are not packed; 0 for non-array kinds.
  [[nodiscard]] constexpr int host_bytes() const { return (bits + 7) / 8; }
  /// Elements narrower than a byte that share bytes in packed storage (s1…u4, f4).
  [[nodiscard]] constexpr bool is_packed() const {
    return bits != 0 && bits <= 4 && type_class != TypeClass::Pred;
  }
};

inline constexpr std::array kTypeTable = {
#define HLO_TYPE(Kind, text, number, bits, cls, exp, man, special) \
  TypeInfo{ElementType::Kind, text, number, bits, TypeClass::cls, exp, man, FloatSpecial::special},
#include "ir/types.def"
};
inline constexpr int kElementTypeCount = static_cast<int>(kTypeTable.size());

constexpr const TypeInfo& Info(ElementType type) { return kTypeTable[static_cast<size_t>(type)]; }
constexpr llvm::StringRef ToString(ElementType type) { return Info(type).text; }

constexpr bool IsPred(ElementType t) { return Info(t).type_class == TypeClass::Pred; }
constexpr bool IsSigned(ElementType t) { return Info(t).type_class == TypeClass::Signed; }
constexpr bool IsUnsigned(ElementType t) { return Info(t).type_class == TypeClass::Unsigned; }
/// S* and U*; PRED is not integral.
constexpr bool IsIntegral(ElementType t) { return IsSigned(t) || IsUnsigned(t); }
/// Real floating types, narrow kinds included; complex is not floating.
constexpr bool IsFloat(ElementType t) { return Info(t).type_class == TypeClass::Float; }
constexpr bool IsComplex(ElementType t) { return Info(t).type_class == TypeClass::Complex; }
/// True for every type an array can have.
constexpr bool IsArrayType(ElementType t) { return Info(t).type_class != TypeClass::None; }
/// F32 for C64, F64 for C128, else the type itself.
constexpr ElementType RealPartType(ElementType t) {
  return t == ElementType::C64 ? ElementType::F32 : t == ElementType::C128 ? ElementType::F64 : t;
}
/// C64 for F32, C128 for F64; nothing for other types.
constexpr std::optional<ElementType> ComplexType(ElementType t) {
  if (t == ElementType::F32) return ElementType::C64;
  if (t == ElementType::F64) return ElementType::C128;
  return std::nullopt;
}

/// Exponent bias of a floating type (of the parts of a complex one); 0 for other types.
constexpr int ExponentBias(ElementType type) {
  const TypeInfo& info = Info(type);
  if (info.exponent_bits == 0) return 0;
  if (type == ElementType::F8E4M3B11FNUZ) return 11;
  const int ieee = (1 << (info.exponent_bits - 1)) - 1;
  return info.special == FloatSpecial::Fnuz ? ieee + 1 : ieee;
}

/// The type spelled `text` in HLO (`tuple` and `buffer` are no type names); nothing if unknown.
std::optional<ElementType> ParseElementType(llvm::StringRef text);

/// The wider of two types by (complex, exponent range, significand width, bit width, signed);
/// the result type of ops that mix floating operands (ops-elementwise §1.1).
ElementType HigherPrecision(ElementType a, ElementType b);

}  // namespace hlo
