// Real elementary functions of one float or double, with the special values of HLO.
#pragma once
#include <cmath>
#include <concepts>
#include <limits>

namespace hlo::math {

// Special values follow ops-elementwise §6.2 and §7.2, which are those of C's Annex F; subnormals are
// kept. float results are within 1 ULP of the correctly rounded value, double results within 2 ULP.
// Types narrower than 32 bits: evaluate in double (or float) and round the result once.

#define HLO_FUNCTION(Kind, Loops, Complex) \
  float Kind(float x);                     \
  double Kind(double x);
#include "ir/numeric/functions.def"
float Atan(float x);
double Atan(double x);
float Pow(float x, float y);
double Pow(double x, double y);
float Atan2(float y, float x);
double Atan2(double y, double x);

/// Correctly rounded. A negative subnormal counts as -0, as on targets that flush subnormals; every
/// other negative number gives NaN.
template <std::floating_point T>
T Sqrt(T x) {
  if (x < 0 && x > -std::numeric_limits<T>::min()) return -T{0};
  return std::sqrt(x);
}
template <std::floating_point T>
T Abs(T x) {
  return std::fabs(x);
}
/// Ties away from zero.
template <std::floating_point T>
T RoundNearestAfz(T x) {
  return std::round(x);
}
/// Ties to even.
template <std::floating_point T>
T RoundNearestEven(T x) {
  return std::nearbyint(x);
}
template <std::floating_point T>
bool IsFinite(T x) {
  return std::isfinite(x);
}
/// -1 or 1; zeros and NaN are returned as they are.
template <std::floating_point T>
T Sign(T x) {
  return x > 0 ? T{1} : x < 0 ? T{-1} : x;
}
/// C fmod: exact, sign of the dividend; x rem 0 and inf rem y are NaN.
template <std::floating_point T>
T Remainder(T x, T y) {
  return std::fmod(x, y);
}

/// Propagates NaN; -0 is less than +0.
template <std::floating_point T>
T Maximum(T a, T b) {
  if (a > b) return a;
  if (b > a) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a + b;
}
/// Propagates NaN; -0 is less than +0.
template <std::floating_point T>
T Minimum(T a, T b) {
  if (a < b) return a;
  if (b < a) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return a + b;
}
/// min(max(x, low), high): NaN in any operand gives NaN; `high` wins if the bounds are crossed.
template <std::floating_point T>
T Clamp(T low, T x, T high) {
  return Minimum(Maximum(x, low), high);
}

}  // namespace hlo::math
