#include "ir/types.h"

#include <tuple>


namespace hlo {

int ExponentBias(ElementType type) {
  switch (type) {  // the formats whose bias is not 2^(e-1)-1
    case ElementType::F8E4M3B11FNUZ: return 11;
    case ElementType::F8E8M0FNU: return 127;
    default: break;
  }
  const TypeInfo& info = Info(type);
  if (info.exponent_bits == 0) return 0;
  const int ieee = (1 << (info.exponent_bits - 1)) - 1;
  return info.special == FloatSpecial::Fnuz ? ieee + 1 : ieee;
}

std::optional<ElementType> ParseElementType(llvm::StringRef text) {
  for (const TypeInfo& info : kTypeTable)
    if (info.text == text && info.type != ElementType::Tuple && info.type != ElementType::Buffer)
      return info.type;
  return std::nullopt;
}

ElementType HigherPrecision(ElementType a, ElementType b) {
  auto rank = [](ElementType t) {
    const TypeInfo& i = Info(t);
    return std::make_tuple(IsComplex(t), i.exponent_bits, i.mantissa_bits, i.bits, IsSigned(t));
  };
  return rank(a) < rank(b) ? b : a;
}

}  // namespace hlo
