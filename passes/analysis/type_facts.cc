#include "passes/analysis/type_facts.h"

namespace hlo {

bool ConvertsExactly(ElementType from, ElementType to) {
  if (from == to) return true;
  const TypeInfo &a = Info(from), &b = Info(to);
  if (IsIntegral(from) && IsIntegral(to)) {
    if (IsSigned(from)) return IsSigned(to) && b.bits >= a.bits;
    return IsSigned(to) ? b.bits > a.bits : b.bits >= a.bits;
  }
  if (!IsFloat(from) || !IsFloat(to) || b.special != FloatSpecial::Ieee) return false;
  // A wider exponent leaves room for other biases and for values below the normal ones.
  return b.exponent_bits >= a.exponent_bits + (a.special == FloatSpecial::Ieee ? 0 : 1) &&
         b.mantissa_bits >= a.mantissa_bits;
}

}  // namespace hlo
