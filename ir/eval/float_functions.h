// Elementary functions of float that compilers vectorise: double arithmetic without branches or calls,
// rounded once. Results are correctly rounded but for rare cases, and the same on every processor.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace hlo::kernels {

/// exp(x) for |x| <= 700 with a relative error of about 2^-46; any other number counts as the
/// nearest of these, NaN gives NaN.
inline double FastExp(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep0;
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kRound = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  double a = x > 700 ? 700 : x;
  a = a < -700 ? -700 : a;
  const double shifted = a * kLog2E + kRound;
  const double n = shifted - kRound;
  const double r = (a - n * kLn2High) - n * kLn2Low;
  const double r2 = r * r;
  // Taylor series to r^11 on |r| <= ln(2)/2, in two halves.
  const double even =
      1.0 + r2 * (1.0 / 2 + r2 * (1.0 / 24 + r2 * (1.0 / 720 + r2 * (1.0 / 40320 + r2 * (1.0 / 3628800)))));
  const double odd =
      r * (1.0 + r2 * (1.0 / 6 +
                       r2 * (1.0 / 120 + r2 * (1.0 / 5040 + r2 * (1.0 / 362880 + r2 * (1.0 / 39916800))))));
  const uint64_t scale = std::bit_cast<uint64_t>(shifted) << 52;
  const double result = std::bit_cast<double>(std::bit_cast<uint64_t>(even + odd) + scale);
  return x != x ? x : result;
}

/// log(x) for normal x > 0 with a relative error of about 2^-46; otherwise -inf for zeros, NaN for
/// negative numbers, inf for inf.
inline double FastLog(double x) {
  constexpr uint64_t kOne = 0x3FF0000000000000, kRootHalf = 0x3FE6A09E667F3BCD;
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t biased = (bits + (kOne - kRootHalf)) >> 52;  // of the power of two below x * sqrt(2)
  const double m = std::bit_cast<double>(bits - (biased << 52) + kOne);  // in [sqrt(1/2), sqrt(2))
  const double e = std::bit_cast<double>(biased | 0x4330000000000000) - (0x1p52 + 1023);
  const double s = (m - 1) / (m + 1), s2 = s * s;
  const double tail =
      s2 *
      (1.0 / 3 +
       s2 * (1.0 / 5 +
             s2 * (1.0 / 7 +
                   s2 * (1.0 / 9 + s2 * (1.0 / 11 + s2 * (1.0 / 13 + s2 * (1.0 / 15 + s2 * (1.0 / 17))))))));
  const double result = e * 0x1.62e42fefa39efp-1 + (2 * s + 2 * s * tail);
  const double infinite = x == 0 ? -std::numeric_limits<double>::infinity() : x;
  const double special = x < 0 ? std::numeric_limits<double>::quiet_NaN() : infinite;
  return x > 0 && x < std::numeric_limits<double>::infinity() ? result : special;
}

// Subtracting from 1 costs few of the 29 bits that double has to spare unless x is small; there the
// series are used (math.cc has the same formulas for single numbers). No early returns, or the loops
// would not be vectorised.
struct FastFloat {
  static float Exp(float x) { return static_cast<float>(FastExp(static_cast<double>(x))); }
  static float Expm1(float f) {
    const double x = static_cast<double>(f);
    const double big = FastExp(x) - 1;
    const double small = x + x * x * (1.0 / 2 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120))));
    const auto result = static_cast<float>(std::fabs(x) > 0x1p-6 ? big : small);
    return std::copysign(result, f);  // also of zeros
  }
  static float Log(float x) { return static_cast<float>(FastLog(static_cast<double>(x))); }
  static float Log1p(float f) {
    const double x = static_cast<double>(f);
    const double big = FastLog(1 + x);
    const double small = x - x * x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4)));
    const auto result = static_cast<float>(std::fabs(x) > 0x1p-12 ? big : small);
    return std::copysign(result, f);  // also of zeros
  }
  static float Tanh(float f) {
    const double x = static_cast<double>(f), a = std::fabs(x);
    const double big = 1 - 2 / (FastExp(2 * a) + 1);
    const double s = a * a;
    const double small = a - a * s * (1.0 / 3 - s * (2.0 / 15 - s * (17.0 / 315)));
    const auto result = static_cast<float>(a > 0x1p-6 ? big : small);
    return std::copysign(result, f);  // also of zeros
  }
  static float Logistic(float x) {
    return static_cast<float>(1.0 / (1.0 + FastExp(-static_cast<double>(x))));
  }
};

}  // namespace hlo::kernels
