// Elementary functions and arithmetic of complex<float> and complex<double>.
#pragma once
#include <complex>

namespace hlo::math {

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

// Branch cuts, infinities, NaN and signed zeros are those of the C library (C Annex G) unless said
// otherwise (ops-elementwise §6.4, §7.3). Errors are a few units of the last place of |result|;
// complex<float> is evaluated in double and rounded once.

#define HLO_RealOnly(Kind)
#define HLO_Evaluated(Kind)    \
  Complex64 Kind(Complex64 z); \
  Complex128 Kind(Complex128 z);
#define HLO_Compiled(Kind)                 HLO_Evaluated(Kind)
#define HLO_FUNCTION(Kind, Loops, Complex) HLO_##Complex(Kind)
#include "ir/numeric/functions.def"
#undef HLO_RealOnly
#undef HLO_Evaluated
#undef HLO_Compiled

/// |z| without intermediate overflow; infinite if either part is.
double Abs(Complex128 z);
/// Principal root; the sign of a zero imaginary part is ignored: sqrt(-1-0i) = (0, 1).
Complex128 Sqrt(Complex128 z);
Complex128 Atan(Complex128 z);
/// z / |z|; 0 -> (0, 0).
Complex128 Sign(Complex128 z);
/// (ac-bd, ad+bc), without recovery of infinities.
Complex128 Multiply(Complex128 x, Complex128 y);
/// Scaled against overflow. A zero divisor gives each part times infinity with the sign of the
/// divisor's real part; infinite/finite and finite/infinite as in Annex G.
Complex128 Divide(Complex128 x, Complex128 y);
/// z^0 = 1, 1^w = 1, 0^w = 0 for re(w) > 0, inf^w infinite or 0 by the sign of re(w).
Complex128 Pow(Complex128 z, Complex128 w);
/// The larger (smaller) by real part, then by imaginary part, -0 and +0 being equal but where nothing else
/// differs. An operand with a NaN in either part is the result; of two such, each part is that of the real
/// maximum (minimum) (errata-2 17).
Complex128 Maximum(Complex128 x, Complex128 y);
Complex128 Minimum(Complex128 x, Complex128 y);
/// -i log((x + iy) / sqrt(x^2 + y^2)).
Complex128 Atan2(Complex128 y, Complex128 x);

float Abs(Complex64 z);
Complex64 Sqrt(Complex64 z);
Complex64 Atan(Complex64 z);
Complex64 Sign(Complex64 z);
Complex64 Maximum(Complex64 x, Complex64 y);
Complex64 Minimum(Complex64 x, Complex64 y);
Complex64 Multiply(Complex64 x, Complex64 y);
Complex64 Divide(Complex64 x, Complex64 y);
Complex64 Pow(Complex64 z, Complex64 w);
Complex64 Atan2(Complex64 y, Complex64 x);

}  // namespace hlo::math
