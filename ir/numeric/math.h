// Real elementary functions of one float or double, with the special values of HLO.
#pragma once
#include <cmath>
#include <concepts>
#include <limits>

namespace hlo::math {

// Special values follow ops-elementwise §6.2 and §7.2, which are those of C's Annex F; subnormals are
// kept. float results are within 1 ULP of the correctly rounded value, double results within 2 ULP.
// Types narrower than 32 bits: evaluate in double (or float) and round the result once.

double Exp(double x);
double Expm1(double x);
double Log(double x);
double Log1p(double x);
double Tanh(double x);
/// 1 / (1 + exp(-x)) without overflow or cancellation.
double Logistic(double x);
double Erf(double x);
double Sin(double x);
double Cos(double x);
double Tan(double x);
double Asin(double x);
double Acos(double x);
double Atan(double x);
double Sinh(double x);
double Cosh(double x);
double Asinh(double x);
double Acosh(double x);
double Atanh(double x);
/// Correctly rounded but for rare cases; odd.
double Cbrt(double x);
double Rsqrt(double x);
double Pow(double x, double y);
double Atan2(double y, double x);

float Exp(float x);
float Expm1(float x);
float Log(float x);
float Log1p(float x);
float Tanh(float x);
float Logistic(float x);
float Erf(float x);
float Sin(float x);
float Cos(float x);
float Tan(float x);
float Asin(float x);
float Acos(float x);
float Atan(float x);
float Sinh(float x);
float Cosh(float x);
float Asinh(float x);
float Acosh(float x);
float Atanh(float x);
float Cbrt(float x);
float Rsqrt(float x);
float Pow(float x, float y);
float Atan2(float y, float x);

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
