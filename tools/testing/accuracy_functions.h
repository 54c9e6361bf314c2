// Elementary functions with references in higher precision, and how far results are from these.
#pragma once
#include <cmath>
#include <limits>

#include "ir/op.h"
#include "ir/types.h"
#include "llvm/ADT/ArrayRef.h"

namespace hlo::testing {

/// A function of one operand. Its double reference serves f32, the other narrower types and f64. Bounds in
/// units of the last place; narrower types have to be rounded correctly.
struct UnaryReference {
  OpKind kind;
  double (*in_double)(double);
  long double (*in_long_double)(long double);
  double bound32, bound64;
};
llvm::ArrayRef<UnaryReference> UnaryReferences();
/// The one that serves types narrower than f32.
long double (*NarrowReference(const UnaryReference& row))(long double);

struct BinaryReference {
  OpKind kind;
  double (*in_double)(double, double);
  long double (*in_long_double)(long double, long double);
  double bound32, bound64;
};
llvm::ArrayRef<BinaryReference> BinaryReferences();

/// The error of what is no number, or infinite, or a zero, or of the other sign, where it should not.
inline constexpr double kWrong = 1e30;

/// |got - want| in units of the last place of T at `want`. Infinity stands for the number after the largest.
template <class T, class Wide>
double Ulps(T got, Wide want) {
  using L = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  if (std::isinf(want)) return static_cast<Wide>(got) == want ? 0 : kWrong;
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : kWrong;
  if (std::signbit(got) != std::signbit(want) && (got == 0 || std::isinf(got))) return kWrong;
  const Wide beyond = std::ldexp(Wide{1}, L::max_exponent);
  if (std::isinf(got) && std::fabs(want) >= beyond) return 0;
  const Wide value = std::isinf(got) ? std::copysign(beyond, static_cast<Wide>(got)) : static_cast<Wide>(got);
  const int exponent = std::max(std::ilogb(want), L::min_exponent - 1);
  return static_cast<double>(std::ldexp(std::fabs(value - want), L::digits - 1 - exponent));
}

}  // namespace hlo::testing
