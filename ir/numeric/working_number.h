// The numbers that dense linear algebra computes with: double, and a complex type with plain arithmetic.
#pragma once
#include <cmath>
#include <complex>
#include <limits>

#include "ir/numeric/complex_math.h"

namespace hlo {

/// A complex number with plain arithmetic, which compilers can vectorise.
struct PlainComplex {
  double re = 0, im = 0;
  PlainComplex() = default;
  PlainComplex(double r, double i) : re(r), im(i) {}
  friend PlainComplex operator+(PlainComplex a, PlainComplex b) { return {a.re + b.re, a.im + b.im}; }
  friend PlainComplex operator-(PlainComplex a, PlainComplex b) { return {a.re - b.re, a.im - b.im}; }
  friend PlainComplex operator*(PlainComplex a, PlainComplex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend PlainComplex operator*(PlainComplex a, double b) { return {a.re * b, a.im * b}; }
  friend PlainComplex operator/(PlainComplex a, PlainComplex b) {
    const std::complex<double> q = math::Divide(math::Complex128(a.re, a.im), math::Complex128(b.re, b.im));
    return {q.real(), q.imag()};
  }
};

inline double Conj(double x) { return x; }
inline PlainComplex Conj(PlainComplex x) { return {x.re, -x.im}; }
inline double DivideByReal(double x, double y) { return x / y; }
inline PlainComplex DivideByReal(PlainComplex x, double y) { return {x.re / y, x.im / y}; }
inline double RealPart(double x) { return x; }
inline double RealPart(PlainComplex x) { return x.re; }
inline double ImagPart(double) { return 0; }
inline double ImagPart(PlainComplex x) { return x.im; }
inline double AbsoluteSquare(double x) { return x * x; }
inline double AbsoluteSquare(PlainComplex x) { return x.re * x.re + x.im * x.im; }
inline double Magnitude(double x) { return std::fabs(x); }
inline double Magnitude(PlainComplex x) { return std::hypot(x.re, x.im); }
/// |re| + |im|, by which LAPACK compares pivots.
inline double Size(double x) { return std::fabs(x); }
inline double Size(PlainComplex x) { return std::fabs(x.re) + std::fabs(x.im); }

/// How elements of T are computed with.
template <class T>
struct Working {
  using W = double;
  static W Load(T x) { return static_cast<double>(x); }
  static T Store(W x) { return static_cast<T>(x); }
  static W FromReal(double x) { return x; }
  static W Nan() { return std::numeric_limits<double>::quiet_NaN(); }
};
template <class R>
struct Working<std::complex<R>> {
  using W = PlainComplex;
  static W Load(std::complex<R> x) { return {static_cast<double>(x.real()), static_cast<double>(x.imag())}; }
  static std::complex<R> Store(W x) { return {static_cast<R>(x.re), static_cast<R>(x.im)}; }
  static W FromReal(double x) { return {x, 0}; }
  static W Nan() {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }
};

}  // namespace hlo
