// Complex functions: the C library where it is accurate, own formulas for what it lacks.
#include "ir/numeric/complex_math.h"

#include <cmath>
#include <limits>

#include "ir/numeric/math.h"

namespace hlo::math {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

bool IsFinite(Complex128 z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
bool HasInf(Complex128 z) { return std::isinf(z.real()) || std::isinf(z.imag()); }
bool HasNan(Complex128 z) { return std::isnan(z.real()) || std::isnan(z.imag()); }
double LargerPart(Complex128 z) { return std::fmax(std::fabs(z.real()), std::fabs(z.imag())); }

Complex128 Scale(Complex128 z, int exponent) {
  return {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
}
/// Exponent that brings the larger part of a finite non-zero z into [1, 2).
int ScaleExponent(Complex128 z) { return -std::ilogb(LargerPart(z)); }

/// A sum of doubles with the rounding errors of every step.
struct CompensatedSum {
  double sum = 0;
  double error = 0;
  void Add(double x) {
    const double s = sum + x;
    const double back = s - sum;
    error += (sum - (s - back)) + (x - back);
    sum = s;
  }
  void AddSquare(double x) {
    const double p = x * x;
    Add(p);
    error += std::fma(x, x, -p);
  }
  [[nodiscard]] double value() const { return sum + error; }
};

/// x / y of finite parts and y != 0.
Complex128 DivideFinite(Complex128 x, Complex128 y) {
  if (x == Complex128(0)) return {x.real() * y.real(), x.imag() * y.real()};
  const int ex = ScaleExponent(x);
  const int ey = ScaleExponent(y);
  const Complex128 n = Scale(x, ex);
  const Complex128 d = Scale(y, ey);
  const double norm = d.real() * d.real() + d.imag() * d.imag();
  const Complex128 q((n.real() * d.real() + n.imag() * d.imag()) / norm,
                     (n.imag() * d.real() - n.real() * d.imag()) / norm);
  return Scale(q, ey - ex);
}

/// Infinite parts become +-1, the others signed zeros.
Complex128 UnitInfinities(Complex128 z) {
  return {std::copysign(std::isinf(z.real()) ? 1.0 : 0.0, z.real()),
          std::copysign(std::isinf(z.imag()) ? 1.0 : 0.0, z.imag())};
}

Complex128 Widen(Complex64 z) { return {static_cast<double>(z.real()), static_cast<double>(z.imag())}; }
Complex64 Narrow(Complex128 z) { return {static_cast<float>(z.real()), static_cast<float>(z.imag())}; }

/// a < b of the order that Maximum and Minimum follow; neither has a NaN.
bool IsBefore(Complex128 a, Complex128 b) {
  if (a.real() != b.real()) return a.real() < b.real();
  if (a.imag() != b.imag()) return a.imag() < b.imag();
  if (std::signbit(a.real()) != std::signbit(b.real())) return std::signbit(a.real());
  return std::signbit(a.imag()) && !std::signbit(b.imag());
}

}  // namespace

double Abs(Complex128 z) { return std::hypot(z.real(), z.imag()); }
Complex128 Exp(Complex128 z) { return std::exp(z); }
Complex128 Log(Complex128 z) { return std::log(z); }
Complex128 Sqrt(Complex128 z) { return std::sqrt(z.imag() == 0 ? Complex128(z.real(), 0.0) : z); }
Complex128 Sin(Complex128 z) { return std::sin(z); }
Complex128 Cos(Complex128 z) { return std::cos(z); }
Complex128 Tan(Complex128 z) { return std::tan(z); }
Complex128 Asin(Complex128 z) { return std::asin(z); }
Complex128 Acos(Complex128 z) { return std::acos(z); }
Complex128 Atan(Complex128 z) { return std::atan(z); }
Complex128 Sinh(Complex128 z) { return std::sinh(z); }
Complex128 Cosh(Complex128 z) { return std::cosh(z); }
Complex128 Tanh(Complex128 z) { return std::tanh(z); }
Complex128 Asinh(Complex128 z) { return std::asinh(z); }
Complex128 Acosh(Complex128 z) { return std::acosh(z); }
Complex128 Atanh(Complex128 z) { return std::atanh(z); }

Complex128 Expm1(Complex128 z) {
  const double a = z.real();
  const double b = z.imag();
  if (!IsFinite(z) || a > 700) return std::exp(z) - 1.0;
  const double half_sine = std::sin(b / 2);
  return {std::expm1(a) * std::cos(b) - 2 * half_sine * half_sine, std::exp(a) * std::sin(b)};
}

Complex128 Log1p(Complex128 z) {
  const double a = z.real();
  const double b = z.imag();
  if (!(LargerPart(z) < 0x1p30)) return std::log(Complex128(1 + a, b));
  if (b == 0 && a >= -1) return {std::log1p(a), b};
  // |1+z|^2 - 1 = 2a + a^2 + b^2, summed exactly enough to survive cancellation.
  CompensatedSum excess;
  excess.AddSquare(b);
  excess.Add(2 * a);
  excess.AddSquare(a);
  const double u = excess.value();
  const double argument = std::atan2(b, 1 + a);
  if (u < -0.5) return {std::log(std::hypot(1 + a, b)), argument};
  return {std::log1p(u) / 2, argument};
}

Complex128 Rsqrt(Complex128 z) {
  if (z == Complex128(0)) return {kInf, std::numeric_limits<double>::quiet_NaN()};
  if (HasInf(z)) return {std::copysign(0.0, z.real()), std::copysign(0.0, -z.imag())};
  if (HasNan(z)) return std::sqrt(z);
  // With s = sqrt(z): 1/s = conj(s)/|z|; scaling by an even power of two keeps |z| in range.
  const int exponent = ScaleExponent(z) & ~1;
  const Complex128 scaled = Scale(z, exponent);
  const Complex128 root = std::sqrt(scaled);
  return Scale(std::conj(root) / Abs(scaled), exponent / 2);
}

Complex128 Logistic(Complex128 z) {
  if (!IsFinite(z)) return Divide(1.0, 1.0 + std::exp(-z));
  if (z.real() < -40) return std::exp(z);  // 1 + exp(z) rounds to 1
  // 1 / (1 + exp(-z)), the sum written so that it does not cancel near its zeros, in the extended
  // format of the processor where there is one.
  const long double a = z.real();
  const long double b = z.imag();
  const long double half_cosine = std::cos(b / 2);
  const long double re = 2 * half_cosine * half_cosine + std::expm1(-a) * std::cos(b);
  const long double im = -std::exp(-a) * std::sin(b);
  const long double norm = re * re + im * im;
  return {static_cast<double>(re / norm), static_cast<double>(-im / norm)};
}

Complex128 Sign(Complex128 z) {
  if (z == Complex128(0)) return 0.0;
  if (IsFinite(z)) z = Scale(z, ScaleExponent(z));
  const double norm = Abs(z);
  return {z.real() / norm, z.imag() / norm};
}

Complex128 Maximum(Complex128 x, Complex128 y) {
  if (HasNan(x) && HasNan(y)) return {Maximum(x.real(), y.real()), Maximum(x.imag(), y.imag())};
  return HasNan(x) || (!HasNan(y) && IsBefore(y, x)) ? x : y;
}
Complex128 Minimum(Complex128 x, Complex128 y) {
  if (HasNan(x) && HasNan(y)) return {Minimum(x.real(), y.real()), Minimum(x.imag(), y.imag())};
  return HasNan(x) || (!HasNan(y) && IsBefore(x, y)) ? x : y;
}
Complex64 Maximum(Complex64 x, Complex64 y) { return Complex64(Maximum(Complex128(x), Complex128(y))); }
Complex64 Minimum(Complex64 x, Complex64 y) { return Complex64(Minimum(Complex128(x), Complex128(y))); }
Complex128 Multiply(Complex128 x, Complex128 y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

Complex128 Divide(Complex128 x, Complex128 y) {
  if (y == Complex128(0) && !(std::isnan(x.real()) && std::isnan(x.imag()))) {
    const double infinity = std::copysign(kInf, y.real());
    return {infinity * x.real(), infinity * x.imag()};
  }
  if (IsFinite(x) && IsFinite(y)) return DivideFinite(x, y);
  if (HasInf(x) && IsFinite(y)) {
    const Complex128 n = UnitInfinities(x);
    return {kInf * (n.real() * y.real() + n.imag() * y.imag()),
            kInf * (n.imag() * y.real() - n.real() * y.imag())};
  }
  if (IsFinite(x) && HasInf(y)) {
    const Complex128 d = UnitInfinities(y);
    return {0.0 * (x.real() * d.real() + x.imag() * d.imag()),
            0.0 * (x.imag() * d.real() - x.real() * d.imag())};
  }
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return {kNan, kNan};
}

Complex128 Pow(Complex128 z, Complex128 w) {
  if (w == Complex128(0) || z == Complex128(1)) return 1.0;
  if (z == Complex128(0) && w.real() > 0) return 0.0;
  if (HasInf(z) && w.imag() == 0 && !std::isnan(w.real()))
    return w.real() > 0 ? Complex128(kInf, 0) : Complex128(0);
  // The product w*log(z) magnifies errors by |w log z|: the extended format of the processor, where
  // there is one, absorbs that.
  using Extended = std::complex<long double>;
  const Extended log_z = std::log(Extended(z.real(), z.imag()));
  const long double c = w.real();
  const long double d = w.imag();
  const Extended exponent(c * log_z.real() - d * log_z.imag(), c * log_z.imag() + d * log_z.real());
  const Extended power = std::exp(exponent);
  return {static_cast<double>(power.real()), static_cast<double>(power.imag())};
}

Complex128 Atan2(Complex128 y, Complex128 x) {
  const Complex128 numerator(x.real() - y.imag(), x.imag() + y.real());
  const Complex128 norm = Sqrt(Multiply(x, x) + Multiply(y, y));
  const Complex128 log = Log(Divide(numerator, norm));
  return {log.imag(), -log.real()};
}

float Abs(Complex64 z) { return static_cast<float>(Abs(Widen(z))); }
Complex64 Exp(Complex64 z) { return Narrow(Exp(Widen(z))); }
Complex64 Expm1(Complex64 z) { return Narrow(Expm1(Widen(z))); }
Complex64 Log(Complex64 z) { return Narrow(Log(Widen(z))); }
Complex64 Log1p(Complex64 z) { return Narrow(Log1p(Widen(z))); }
Complex64 Sqrt(Complex64 z) { return Narrow(Sqrt(Widen(z))); }
Complex64 Rsqrt(Complex64 z) { return Narrow(Rsqrt(Widen(z))); }
Complex64 Logistic(Complex64 z) { return Narrow(Logistic(Widen(z))); }
Complex64 Sin(Complex64 z) { return Narrow(Sin(Widen(z))); }
Complex64 Cos(Complex64 z) { return Narrow(Cos(Widen(z))); }
Complex64 Tan(Complex64 z) { return Narrow(Tan(Widen(z))); }
Complex64 Asin(Complex64 z) { return Narrow(Asin(Widen(z))); }
Complex64 Acos(Complex64 z) { return Narrow(Acos(Widen(z))); }
Complex64 Atan(Complex64 z) { return Narrow(Atan(Widen(z))); }
Complex64 Sinh(Complex64 z) { return Narrow(Sinh(Widen(z))); }
Complex64 Cosh(Complex64 z) { return Narrow(Cosh(Widen(z))); }
Complex64 Tanh(Complex64 z) { return Narrow(Tanh(Widen(z))); }
Complex64 Asinh(Complex64 z) { return Narrow(Asinh(Widen(z))); }
Complex64 Acosh(Complex64 z) { return Narrow(Acosh(Widen(z))); }
Complex64 Atanh(Complex64 z) { return Narrow(Atanh(Widen(z))); }
Complex64 Sign(Complex64 z) { return Narrow(Sign(Widen(z))); }
Complex64 Multiply(Complex64 x, Complex64 y) { return Narrow(Multiply(Widen(x), Widen(y))); }
Complex64 Divide(Complex64 x, Complex64 y) { return Narrow(Divide(Widen(x), Widen(y))); }
Complex64 Pow(Complex64 z, Complex64 w) { return Narrow(Pow(Widen(z), Widen(w))); }
Complex64 Atan2(Complex64 y, Complex64 x) { return Narrow(Atan2(Widen(y), Widen(x))); }

}  // namespace hlo::math
