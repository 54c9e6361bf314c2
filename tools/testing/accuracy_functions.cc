// The references: the C library's functions of double and long double, whose own errors (below 1 unit of
// their last places) are 2^-28 units of f32 and 2^-10 of f64.
#include "tools/testing/accuracy_functions.h"

#include "ir/numeric/math.h"

namespace hlo::testing {
namespace {

/// Within 2^-50 or better: exp(-|x|) is at most 1.
template <class T>
T Logistic(T x) {
  const T e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}
/// Negative subnormals of f32, in which narrower types compute, and of f64 count as -0 (ops-elementwise
/// §6.2).
template <class T>
T Sqrt(T x) {
  const T least = sizeof(T) == sizeof(double) ? T{0x1p-126} : T{0x1p-1022};
  return x < 0 && x > -least ? -T{0} : std::sqrt(x);
}
long double NarrowSqrt(long double x) { return x < 0 && x > -0x1p-126L ? -0.0L : std::sqrt(x); }
template <class T>
T Rsqrt(T x) {
  return 1 / std::sqrt(x);
}
template <class T>
T Sign(T x) {
  return x > 0 ? T{1} : x < 0 ? T{-1} : x;
}
template <class T>
T Negate(T x) {
  return -x;
}
/// The C library lets a signalling NaN to the power of 0 be NaN.
template <class T>
T Power(T x, T y) {
  return y == 0 ? T{1} : std::pow(x, y);
}

#define HLO_ROW(Kind, name, bound32, bound64) {OpKind::Kind, std::name, std::name, bound32, bound64}
#define HLO_OWN(Kind, name, bound32, bound64) \
  {OpKind::Kind, name<double>, name<long double>, bound32, bound64}
const UnaryReference kUnary[] = {
    HLO_ROW(Exp, exp, 2, 2),
    HLO_ROW(Expm1, expm1, 2, 2),
    HLO_OWN(Logistic, Logistic, 2, 2),
    HLO_ROW(Tanh, tanh, 2, 2),
    HLO_ROW(Log, log, 2, 2),
    HLO_ROW(Log1p, log1p, 2, 2),
    HLO_ROW(Erf, erf, 2, 2),
    HLO_ROW(Sin, sin, 2, 2),
    HLO_ROW(Cos, cos, 2, 2),
    HLO_ROW(Tan, tan, 2, 2),
    {OpKind::Cbrt, math::Cbrt, std::cbrt, 2, 2},
    HLO_OWN(Sqrt, Sqrt, 0.5, 0.5),
    HLO_OWN(Rsqrt, Rsqrt, 2, 2),
    HLO_ROW(Asin, asin, 2, 2),
    HLO_ROW(Acos, acos, 2, 2),
    HLO_ROW(Sinh, sinh, 2, 2),
    HLO_ROW(Cosh, cosh, 2, 2),
    HLO_ROW(Asinh, asinh, 2, 2),
    HLO_ROW(Acosh, acosh, 2, 2),
    HLO_ROW(Atanh, atanh, 2, 2),
    HLO_ROW(Abs, fabs, 0, 0),
    HLO_OWN(Negate, Negate, 0, 0),
    HLO_OWN(Sign, Sign, 0, 0),
    HLO_ROW(Floor, floor, 0, 0),
    HLO_ROW(Ceil, ceil, 0, 0),
    HLO_ROW(RoundNearestAfz, round, 0, 0),
    HLO_ROW(RoundNearestEven, nearbyint, 0, 0),
};
const BinaryReference kBinary[] = {
    HLO_OWN(Power, Power, 3, 2),
    HLO_ROW(Atan2, atan2, 3, 2),
};
#undef HLO_ROW
#undef HLO_OWN

}  // namespace

llvm::ArrayRef<UnaryReference> UnaryReferences() { return kUnary; }
llvm::ArrayRef<BinaryReference> BinaryReferences() { return kBinary; }
long double (*NarrowReference(const UnaryReference& row))(long double) {
  return row.kind == OpKind::Sqrt ? NarrowSqrt : row.in_long_double;
}

}  // namespace hlo::testing
