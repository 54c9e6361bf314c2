#include "ir/types.h"

#include <tuple>

namespace hlo {

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
