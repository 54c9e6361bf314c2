// Real elementary functions: the C library where it is accurate, own code where it is not.
#include "ir/numeric/math.h"

#include <cmath>

namespace hlo::math {

double Exp(double x) { return std::exp(x); }
double Expm1(double x) { return std::expm1(x); }
double Log(double x) { return std::log(x); }
double Log1p(double x) { return std::log1p(x); }
double Tanh(double x) { return std::tanh(x); }
double Erf(double x) { return std::erf(x); }
double Sin(double x) { return std::sin(x); }
double Cos(double x) { return std::cos(x); }
double Tan(double x) { return std::tan(x); }
double Asin(double x) { return std::asin(x); }
double Acos(double x) { return std::acos(x); }
double Atan(double x) { return std::atan(x); }
double Sinh(double x) { return std::sinh(x); }
double Cosh(double x) { return std::cosh(x); }
double Asinh(double x) { return std::asinh(x); }
double Acosh(double x) { return std::acosh(x); }
double Atanh(double x) { return std::atanh(x); }
double Rsqrt(double x) { return 1.0 / std::sqrt(x); }
// The C library lets a signalling NaN to the power of 0 be NaN.
double Pow(double x, double y) { return y == 0 ? 1 : std::pow(x, y); }
double Atan2(double y, double x) { return std::atan2(y, x); }

double Logistic(double x) {
  const double e = std::exp(-std::fabs(x));
  const double numerator = x < 0 ? e : 1.0;
  // e <= 1, so the rounding error of the sum is exact; one correction of the quotient uses it.
  const double sum = 1.0 + e;
  const double sum_error = (1.0 - sum) + e;
  const double quotient = numerator / sum;
  const double residual = std::fma(-quotient, sum, numerator) - quotient * sum_error;
  return quotient + residual / sum;
}

double Cbrt(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  // The correction below needs x, y*y and their rounding errors to be normal numbers.
  if (std::fabs(x) < 0x1p-900) return Cbrt(x * 0x1p300) * 0x1p-100;
  if (std::fabs(x) > 0x1p900) return Cbrt(x * 0x1p-300) * 0x1p100;
  const double y = std::cbrt(x);
  // One Newton step on the exact residual x - y^3.
  const double square = y * y;
  const double square_error = std::fma(y, y, -square);
  const double cube = square * y;
  const double cube_error = std::fma(square, y, -cube) + square_error * y;
  return y + ((x - cube) - cube_error) / (3 * square);
}

// Evaluated in double and rounded: correctly but for rare cases. Five functions of the C library work
// so inside and are called directly.
float Exp(float x) { return std::exp(x); }
float Log(float x) { return std::log(x); }
float Sin(float x) { return std::sin(x); }
float Cos(float x) { return std::cos(x); }
float Pow(float x, float y) { return y == 0 ? 1 : std::pow(x, y); }

// Where cancellation costs few of the 29 spare bits, the plain formula; else the series.
float Expm1(float f) {
  const double x = static_cast<double>(f);
  if (std::fabs(x) > 0x1p-6) return static_cast<float>(std::exp(x) - 1);
  if (x == 0) return f;
  return static_cast<float>(x + x * x * (1.0 / 2 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120)))));
}

float Log1p(float f) {
  const double x = static_cast<double>(f);
  if (std::fabs(x) > 0x1p-12) return static_cast<float>(std::log(1 + x));
  if (x == 0) return f;
  return static_cast<float>(x - x * x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4))));
}

float Tanh(float f) {
  const double x = static_cast<double>(f);
  const double a = std::fabs(x);
  if (a > 0x1p-6) return static_cast<float>(std::copysign(1 - 2 / (std::exp(2 * a) + 1), x));
  if (!(a > 0)) return f;
  const double s = x * x;
  return static_cast<float>(x - x * s * (1.0 / 3 - s * (2.0 / 15 - s * (17.0 / 315))));
}

float Logistic(float x) { return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(x)))); }
float Erf(float x) { return static_cast<float>(Erf(static_cast<double>(x))); }
float Tan(float x) { return static_cast<float>(Tan(static_cast<double>(x))); }
float Asin(float x) { return static_cast<float>(Asin(static_cast<double>(x))); }
float Acos(float x) { return static_cast<float>(Acos(static_cast<double>(x))); }
float Atan(float x) { return static_cast<float>(Atan(static_cast<double>(x))); }
float Sinh(float x) { return static_cast<float>(Sinh(static_cast<double>(x))); }
float Cosh(float x) { return static_cast<float>(Cosh(static_cast<double>(x))); }
float Asinh(float x) { return static_cast<float>(Asinh(static_cast<double>(x))); }
float Acosh(float x) { return static_cast<float>(Acosh(static_cast<double>(x))); }
float Atanh(float x) { return static_cast<float>(Atanh(static_cast<double>(x))); }
float Cbrt(float x) { return static_cast<float>(std::cbrt(static_cast<double>(x))); }
float Rsqrt(float x) { return static_cast<float>(Rsqrt(static_cast<double>(x))); }
float Atan2(float y, float x) {
  return static_cast<float>(Atan2(static_cast<double>(y), static_cast<double>(x)));
}

}  // namespace hlo::math
