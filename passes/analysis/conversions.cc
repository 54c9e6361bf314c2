#include "passes/analysis/conversions.h"

namespace hlo {

bool IsLosslessConversion(ElementType from, ElementType to) {
  if (from == to) return true;
  const TypeInfo &f = Info(from), &t = Info(to);
  if (IsPred(from)) return IsIntegral(to) && !(IsSigned(to) && t.bits == 1);
  if (IsComplex(to)) return from == ElementType::C64 || IsLosslessConversion(from, RealPartType(to));
  if (IsIntegral(from) && IsIntegral(to))
    return IsSigned(from) == IsSigned(to) ? t.bits >= f.bits : IsSigned(to) && t.bits > f.bits;
  // Of a signed type the least value is a power of two, which takes no digit more.
  if (IsIntegral(from) && IsFloat(to))
    return f.bits - IsSigned(from) <= t.mantissa_bits + 1 && f.bits - IsSigned(from) <= ExponentBias(to) &&
           t.special != FloatSpecial::E8M0;
  if (!IsFloat(from) || !IsFloat(to)) return false;
  if (from == ElementType::F8E8M0FNU)
    return to == ElementType::F32 || to == ElementType::BF16 || to == ElementType::F64;
  // Formats of IEEE kind with room for everything; subnormals of the narrower type may be normal.
  return t.special == FloatSpecial::Ieee && t.mantissa_bits >= f.mantissa_bits &&
         (t.exponent_bits > f.exponent_bits ||
          (t.exponent_bits == f.exponent_bits && f.special == FloatSpecial::Ieee));
}

}  // namespace hlo
