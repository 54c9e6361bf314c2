// Elementary functions against correctly rounded values (computed with 300 bits) and special values.
#include "ir/numeric/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace hlo::math {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Point {
  const char* name;
  double (*wide)(double);
  float (*narrow)(float);
  double x, expected;
};
struct Point2 {
  const char* name;
  double (*wide)(double, double);
  float (*narrow)(float, float);
  double x, y, expected;
};

// clang-format off
const Point kPoints[] = {
    {"Exp", Exp, Exp, 0x1.0000000000000p-60, 0x1.0000000000000p+0},
    {"Exp", Exp, Exp, 0x1.3333333333333p-2, 0x1.599058c8c1a96p+0},
    {"Exp", Exp, Exp, -0x1.6666666666666p-1, 0x1.fc80db9dd5542p-2},
    {"Exp", Exp, Exp, 0x1.0000000000000p+0, 0x1.5bf0a8b145769p+1},
    {"Exp", Exp, Exp, -0x1.4800000000000p+4, 0x1.57a3afeed00abp-30},
    {"Exp", Exp, Exp, 0x1.62ccccccccccdp+6, 0x1.f4705bbffae5cp+127},
    {"Exp", Exp, Exp, 0x1.5e20000000000p+9, 0x1.2fd8e4cbfa413p+1010},
    {"Exp", Exp, Exp, -0x1.7440000000000p+9, 0x0.0000000000001p-1022},
    {"Expm1", Expm1, Expm1, 0x1.0000000000000p-60, 0x1.0000000000000p-60},
    {"Expm1", Expm1, Expm1, -0x1.0000000000000p-30, -0x1.fffffffc00000p-31},
    {"Expm1", Expm1, Expm1, 0x1.0000000000000p-2, 0x1.22d78f0fa061ap-2},
    {"Expm1", Expm1, Expm1, -0x1.0000000000000p-1, -0x1.92e9a0720d3ecp-2},
    {"Expm1", Expm1, Expm1, 0x1.0000000000000p+0, 0x1.b7e151628aed3p+0},
    {"Expm1", Expm1, Expm1, -0x1.4000000000000p+5, -0x1.0000000000000p+0},
    {"Expm1", Expm1, Expm1, 0x1.6280000000000p+9, 0x1.d422d2be5dc9bp+1022},
    {"Log", Log, Log, 0x0.0000000000001p-1022, -0x1.74385446d71c3p+9},
    {"Log", Log, Log, 0x0.0100000000000p-1022, -0x1.64f886378b146p+9},
    {"Log", Log, Log, 0x1.fffffffffffffp-1, -0x1.0000000000000p-53},
    {"Log", Log, Log, 0x1.0000000000001p+0, 0x1.fffffffffffffp-53},
    {"Log", Log, Log, 0x1.4cccccccccccdp+0, 0x1.0ca937be1b9dcp-2},
    {"Log", Log, Log, 0x1.0000000000000p+1, 0x1.62e42fefa39efp-1},
    {"Log", Log, Log, 0x1.7e43c8800759cp+996, 0x1.5963447f87fb5p+9},
    {"Log1p", Log1p, Log1p, 0x1.0000000000000p-70, 0x1.0000000000000p-70},
    {"Log1p", Log1p, Log1p, -0x1.0000000000000p-20, -0x1.0000080000555p-20},
    {"Log1p", Log1p, Log1p, 0x1.3333333333333p-2, 0x1.0ca937be1b9dcp-2},
    {"Log1p", Log1p, Log1p, -0x1.fffffffffffffp-1, -0x1.25e4f7b2737fap+5},
    {"Log1p", Log1p, Log1p, -0x1.3333333333333p-1, -0x1.d5240f0e0e077p-1},
    {"Log1p", Log1p, Log1p, 0x1.5af1d78b58c40p+66, 0x1.7069e2aa2aa5bp+5},
    {"Log1p", Log1p, Log1p, 0x1.7e43c8800759cp+996, 0x1.5963447f87fb5p+9},
    {"Tanh", Tanh, Tanh, 0x1.0000000000000p-60, 0x1.0000000000000p-60},
    {"Tanh", Tanh, Tanh, 0x1.999999999999ap-4, 0x1.983d7795f413ap-4},
    {"Tanh", Tanh, Tanh, -0x1.0000000000000p-1, -0x1.d9353d7568af3p-2},
    {"Tanh", Tanh, Tanh, 0x1.199999999999ap+0, 0x1.99db01fde2405p-1},
    {"Tanh", Tanh, Tanh, 0x1.4000000000000p+2, 0x1.fff419668df11p-1},
    {"Tanh", Tanh, Tanh, 0x1.3800000000000p+4, 0x1.0000000000000p+0},
    {"Logistic", Logistic, Logistic, 0x1.0000000000000p-50, 0x1.0000000000002p-1},
    {"Logistic", Logistic, Logistic, -0x1.999999999999ap-2, 0x1.9af19f3d3169cp-2},
    {"Logistic", Logistic, Logistic, 0x1.8000000000000p+0, 0x1.a2991f2a97914p-1},
    {"Logistic", Logistic, Logistic, -0x1.e000000000000p+4, 0x1.a56e0c2ac7cbfp-44},
    {"Logistic", Logistic, Logistic, -0x1.5e00000000000p+9, 0x1.14f2b0fb9307fp-1010},
    {"Logistic", Logistic, Logistic, -0x1.7400000000000p+9, 0x0.0000000000002p-1022},
    {"Logistic", Logistic, Logistic, 0x1.2400000000000p+5, 0x1.fffffffffffffp-1},
    {"Erf", Erf, Erf, 0x1.0000000000000p-100, 0x1.20dd750429b6dp-100},
    {"Erf", Erf, Erf, 0x1.999999999999ap-4, 0x1.cca5ea24fb334p-4},
    {"Erf", Erf, Erf, -0x1.ccccccccccccdp-1, -0x1.98045a6c8a2e6p-1},
    {"Erf", Erf, Erf, 0x1.8000000000000p+0, 0x1.eea5557137ae0p-1},
    {"Erf", Erf, Erf, 0x1.599999999999ap+1, 0x1.ffee648a8ce38p-1},
    {"Erf", Erf, Erf, 0x1.6000000000000p+2, 0x1.fffffffffffbep-1},
    {"Sin", Sin, Sin, 0x1.0000000000000p-60, 0x1.0000000000000p-60},
    {"Sin", Sin, Sin, 0x1.0000000000000p-1, 0x1.eaee8744b05f0p-2},
    {"Sin", Sin, Sin, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53},
    {"Sin", Sin, Sin, -0x1.6000000000000p+4, 0x1.220a29f6eb9f4p-7},
    {"Sin", Sin, Sin, 0x1.e848000000000p+19, -0x1.6664b2568d867p-2},
    {"Sin", Sin, Sin, 0x1.0f0cf064dd592p+73, -0x1.b453ab76bf397p-1},
    {"Sin", Sin, Sin, 0x1.0000000000000p+1000, -0x1.460b8ae1c886ep-3},
    {"Cos", Cos, Cos, 0x1.0000000000000p-1, 0x1.c1528065b7d50p-1},
    {"Cos", Cos, Cos, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
    {"Cos", Cos, Cos, -0x1.6000000000000p+4, -0x1.fffadd8d4acdap-1},
    {"Cos", Cos, Cos, 0x1.e848000000000p+19, 0x1.df9df9906d32cp-1},
    {"Cos", Cos, Cos, 0x1.0f0cf064dd592p+73, 0x1.0be2cef01c8f4p-1},
    {"Cos", Cos, Cos, 0x1.0000000000000p+1000, 0x1.f9785160c8815p-1},
    {"Tan", Tan, Tan, 0x1.0000000000000p-60, 0x1.0000000000000p-60},
    {"Tan", Tan, Tan, 0x1.0000000000000p-1, 0x1.17b4f5bf3474ap-1},
    {"Tan", Tan, Tan, 0x1.921fb54442d18p+0, 0x1.d02967c31cdb5p+53},
    {"Tan", Tan, Tan, -0x1.6000000000000p+4, -0x1.220d129b73ef8p-7},
    {"Tan", Tan, Tan, 0x1.0f0cf064dd592p+73, -0x1.a0f79c1b6b257p+0},
    {"Asin", Asin, Asin, 0x1.0000000000000p-60, 0x1.0000000000000p-60},
    {"Asin", Asin, Asin, 0x1.3333333333333p-2, 0x1.380159e14f6ffp-2},
    {"Asin", Asin, Asin, -0x1.3333333333333p-1, -0x1.4978fa3269ee1p-1},
    {"Asin", Asin, Asin, 0x1.fffffffffffffp-1, 0x1.921fb50442d18p+0},
    {"Acos", Acos, Acos, 0x1.0000000000000p-60, 0x1.921fb54442d18p+0},
    {"Acos", Acos, Acos, 0x1.3333333333333p-2, 0x1.441f5ecbeef59p+0},
    {"Acos", Acos, Acos, -0x1.3333333333333p-1, 0x1.1b6e192ebbe44p+1},
    {"Acos", Acos, Acos, 0x1.fffffffffffffp-1, 0x1.0000000000000p-26},
    {"Acos", Acos, Acos, -0x1.fffffffffffffp-1, 0x1.921fb52442d18p+1},
    {"Atan", Atan, Atan, 0x1.0000000000000p-60, 0x1.0000000000000p-60},
    {"Atan", Atan, Atan, 0x1.3333333333333p-2, 0x1.2a73a661eaf06p-2},
    {"Atan", Atan, Atan, -0x1.b333333333333p+0, -0x1.0a00a3bce369fp+0},
    {"Atan", Atan, Atan, 0x1.7e43c8800759cp+996, 0x1.921fb54442d18p+0},
    {"Sinh", Sinh, Sinh, 0x1.0000000000000p-60, 0x1.0000000000000p-60},
    {"Sinh", Sinh, Sinh, 0x1.3333333333333p-2, 0x1.37d42af54b926p-2},
    {"Sinh", Sinh, Sinh, -0x1.b333333333333p+0, -0x1.52a411348ac56p+1},
    {"Sinh", Sinh, Sinh, 0x1.e000000000000p+4, 0x1.370470aec28edp+42},
    {"Sinh", Sinh, Sinh, 0x1.6300000000000p+9, 0x1.3e21a464507f9p+1023},
    {"Cosh", Cosh, Cosh, 0x1.0000000000000p-60, 0x1.0000000000000p+0},
    {"Cosh", Cosh, Cosh, 0x1.3333333333333p-2, 0x1.0b9b4e0b6ec4cp+0},
    {"Cosh", Cosh, Cosh, -0x1.b333333333333p+0, 0x1.6a063dad344f7p+1},
    {"Cosh", Cosh, Cosh, 0x1.e000000000000p+4, 0x1.370470aec28edp+42},
    {"Cosh", Cosh, Cosh, 0x1.6300000000000p+9, 0x1.3e21a464507f9p+1023},
    {"Asinh", Asinh, Asinh, 0x1.0000000000000p-60, 0x1.0000000000000p-60},
    {"Asinh", Asinh, Asinh, 0x1.3333333333333p-2, 0x1.2ec4ea565fcc1p-2},
    {"Asinh", Asinh, Asinh, -0x1.b333333333333p+0, -0x1.4d0291473fd4bp+0},
    {"Asinh", Asinh, Asinh, 0x1.2a05f20000000p+33, 0x1.7b810429a7c2ap+4},
    {"Asinh", Asinh, Asinh, 0x1.7e43c8800759cp+996, 0x1.59bbfd8b83e44p+9},
    {"Acosh", Acosh, Acosh, 0x1.0000000000001p+0, 0x1.6a09e667f3bccp-26},
    {"Acosh", Acosh, Acosh, 0x1.199999999999ap+0, 0x1.c636c1a882f2cp-2},
    {"Acosh", Acosh, Acosh, 0x1.4000000000000p+1, 0x1.9119c13a31bb0p+0},
    {"Acosh", Acosh, Acosh, 0x1.2a05f20000000p+33, 0x1.7b810429a7c2ap+4},
    {"Acosh", Acosh, Acosh, 0x1.7e43c8800759cp+996, 0x1.59bbfd8b83e44p+9},
    {"Atanh", Atanh, Atanh, 0x1.0000000000000p-60, 0x1.0000000000000p-60},
    {"Atanh", Atanh, Atanh, 0x1.3333333333333p-2, 0x1.3cf2b50617c95p-2},
    {"Atanh", Atanh, Atanh, -0x1.6666666666666p-1, -0x1.bc0ed0947fbe8p-1},
    {"Atanh", Atanh, Atanh, 0x1.fffffffffffffp-1, 0x1.2b708872320e2p+4},
    {"Cbrt", Cbrt, Cbrt, 0x0.0000000000001p-1022, 0x1.0000000000000p-358},
    {"Cbrt", Cbrt, Cbrt, 0x0.0000400000000p-1022, 0x1.428a2f98d728bp-347},
    {"Cbrt", Cbrt, Cbrt, -0x1.3333333333333p-2, -0x1.56bfea66ef78dp-1},
    {"Cbrt", Cbrt, Cbrt, 0x1.0000000000000p+1, 0x1.428a2f98d728bp+0},
    {"Cbrt", Cbrt, Cbrt, 0x1.b000000000000p+4, 0x1.8000000000000p+1},
    {"Cbrt", Cbrt, Cbrt, -0x1.e42d130773b76p+1023, -0x1.3c9685a8b2cc0p+341},
    {"Rsqrt", Rsqrt, Rsqrt, 0x0.0000000000001p-1022, 0x1.0000000000000p+537},
    {"Rsqrt", Rsqrt, Rsqrt, 0x1.3333333333333p-2, 0x1.d363d1848dcbfp+0},
    {"Rsqrt", Rsqrt, Rsqrt, 0x1.0000000000000p+1, 0x1.6a09e667f3bcdp-1},
    {"Rsqrt", Rsqrt, Rsqrt, 0x1.8000000000000p+1, 0x1.279a74590331cp-1},
    {"Rsqrt", Rsqrt, Rsqrt, 0x1.7e43c8800759cp+996, 0x1.a2fe76a3f9475p-499},
};
const Point2 kPoints2[] = {
    {"Pow", Pow, Pow, 0x1.0000000000000p+1, 0x1.0000000000000p-1, 0x1.6a09e667f3bcdp+0},
    {"Pow", Pow, Pow, 0x1.0000000000001p+0, 0x1.c6bf526340000p+49, 0x1.3fa60615291eep+0},
    {"Pow", Pow, Pow, 0x1.3333333333333p-2, -0x1.9000000000000p+8, 0x1.b97d7f018f1bcp+694},
    {"Pow", Pow, Pow, -0x1.8000000000000p+1, 0x1.4000000000000p+2, -0x1.e600000000000p+7},
    {"Pow", Pow, Pow, 0x0.0000000000001p-1022, 0x1.0000000000000p-2, 0x1.6a09e667f3bcdp-269},
    {"Pow", Pow, Pow, 0x1.7e43c8800759cp+996, 0x1.051eb851eb852p+0, 0x1.6c8e5ca239078p+1016},
    {"Pow", Pow, Pow, 0x1.ccccccccccccdp-1, 0x1.7700000000000p+11, 0x1.fcb791375e5b1p-457},
    {"Atan2", Atan2, Atan2, 0x1.0000000000000p+0, 0x1.0000000000000p+1, 0x1.dac670561bb4fp-2},
    {"Atan2", Atan2, Atan2, -0x1.56e1fc2f8f359p-997, 0x1.8000000000000p+1, -0x1.c92d503f699ccp-999},
    {"Atan2", Atan2, Atan2, 0x1.4000000000000p+2, -0x1.b7cdfd9d7bdbbp-34, 0x1.921fb54458cf0p+0},
    {"Atan2", Atan2, Atan2, -0x1.3333333333333p-2, -0x1.999999999999ap-2, -0x1.3fc176b7a8560p+1},
    {"Atan2", Atan2, Atan2, 0x1.56e1fc2f8f359p-997, 0x1.56e1fc2f8f359p-997, 0x1.921fb54442d18p-1},
    {"Atan2", Atan2, Atan2, 0x1.7e43c8800759cp+996, -0x1.56e1fc2f8f359p-997, 0x1.921fb54442d18p+0},
};
// clang-format on

template <class T, class Bits>
int64_t UlpDistance(T a, T b) {
  const auto order = [](T v) {
    const auto bits = static_cast<int64_t>(std::bit_cast<Bits>(std::fabs(v)));
    return std::signbit(v) ? -bits : bits;
  };
  return std::abs(order(a) - order(b));
}

TEST(Math, DoubleWithinTwoUlp) {
  for (const Point& p : kPoints)
    EXPECT_LE((UlpDistance<double, uint64_t>(p.wide(p.x), p.expected)), 2) << p.name << "(" << p.x << ")";
  for (const Point2& p : kPoints2)
    EXPECT_LE((UlpDistance<double, uint64_t>(p.wide(p.x, p.y), p.expected)), 2)
        << p.name << " " << p.x << " " << p.y;
}

// Where the argument is a float, the double value is the reference of the float function.
TEST(Math, FloatWithinOneUlp) {
  for (const Point& p : kPoints) {
    const auto x = static_cast<float>(p.x);
    const auto expected = static_cast<float>(p.wide(static_cast<double>(x)));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(p.narrow(x))) << p.name << " " << x;
    else
      EXPECT_LE((UlpDistance<float, uint32_t>(p.narrow(x), expected)), 1) << p.name << " " << x;
  }
  for (const Point2& p : kPoints2) {
    const auto x = static_cast<float>(p.x);
    const auto y = static_cast<float>(p.y);
    const auto expected = static_cast<float>(p.wide(static_cast<double>(x), static_cast<double>(y)));
    if (!std::isnan(expected))
      EXPECT_LE((UlpDistance<float, uint32_t>(p.narrow(x, y), expected)), 1) << p.name;
  }
}

// clang-format off
const Point kSpecials[] = {
    {"Exp", Exp, Exp, -kInf, 0},          {"Exp", Exp, Exp, kInf, kInf},
    {"Expm1", Expm1, Expm1, -0.0, -0.0},  {"Expm1", Expm1, Expm1, -kInf, -1},
    {"Log", Log, Log, -0.0, -kInf},       {"Log", Log, Log, -1, kNan},
    {"Log", Log, Log, 1, 0.0},            {"Log1p", Log1p, Log1p, -1, -kInf},
    {"Log1p", Log1p, Log1p, -0.0, -0.0},  {"Log1p", Log1p, Log1p, -2, kNan},
    {"Tanh", Tanh, Tanh, -kInf, -1},      {"Tanh", Tanh, Tanh, -0.0, -0.0},
    {"Logistic", Logistic, Logistic, -kInf, 0}, {"Logistic", Logistic, Logistic, kInf, 1},
    {"Logistic", Logistic, Logistic, 0, 0.5},   {"Erf", Erf, Erf, -kInf, -1},
    {"Sin", Sin, Sin, kInf, kNan},        {"Sin", Sin, Sin, -0.0, -0.0},
    {"Cos", Cos, Cos, -kInf, kNan},       {"Cos", Cos, Cos, 0, 1},
    {"Tan", Tan, Tan, -0.0, -0.0},        {"Asin", Asin, Asin, 1.5, kNan},
    {"Acos", Acos, Acos, 1, 0.0},         {"Acosh", Acosh, Acosh, 0.5, kNan},
    {"Acosh", Acosh, Acosh, 1, 0.0},      {"Atanh", Atanh, Atanh, -1, -kInf},
    {"Atanh", Atanh, Atanh, 2, kNan},     {"Cosh", Cosh, Cosh, -kInf, kInf},
    {"Sinh", Sinh, Sinh, -kInf, -kInf},   {"Asinh", Asinh, Asinh, -0.0, -0.0},
    {"Cbrt", Cbrt, Cbrt, -8, -2},         {"Cbrt", Cbrt, Cbrt, -0.0, -0.0},
    {"Cbrt", Cbrt, Cbrt, -kInf, -kInf},   {"Rsqrt", Rsqrt, Rsqrt, -0.0, -kInf},
    {"Rsqrt", Rsqrt, Rsqrt, kInf, 0.0},   {"Rsqrt", Rsqrt, Rsqrt, -1, kNan},
    {"Sqrt", Sqrt<double>, Sqrt<float>, -0.0, -0.0}, {"Sqrt", Sqrt<double>, Sqrt<float>, -4, kNan},
    {"Sign", Sign<double>, Sign<float>, -0.0, -0.0}, {"Sign", Sign<double>, Sign<float>, -kInf, -1},
    {"RoundNearestAfz", RoundNearestAfz<double>, RoundNearestAfz<float>, -2.5, -3},
    {"RoundNearestAfz", RoundNearestAfz<double>, RoundNearestAfz<float>, 0.49999997, 0.0},
    {"RoundNearestEven", RoundNearestEven<double>, RoundNearestEven<float>, 2.5, 2},
    {"RoundNearestEven", RoundNearestEven<double>, RoundNearestEven<float>, -0.5, -0.0},
};
// clang-format on

template <class T>
void ExpectSame(T got, T expected, const char* name) {
  EXPECT_TRUE(std::isnan(expected) ? std::isnan(got)
                                   : got == expected && std::signbit(got) == std::signbit(expected))
      << name << ": " << got << " instead of " << expected;
}

TEST(Math, SpecialValues) {
  for (const Point& s : kSpecials) {
    ExpectSame(s.wide(s.x), s.expected, s.name);
    ExpectSame(s.narrow(static_cast<float>(s.x)), static_cast<float>(s.expected), s.name);
    EXPECT_TRUE(std::isnan(s.wide(kNan))) << s.name;
  }
  EXPECT_EQ(Pow(1.0, kNan), 1);
  EXPECT_EQ(Pow(kNan, 0.0), 1);
  EXPECT_EQ(Pow(-1.0, kInf), 1);
  EXPECT_EQ(Pow(-0.0, -3.0), -kInf);
  EXPECT_TRUE(std::isnan(Pow(-2.0, 0.5)));
  EXPECT_EQ(Sqrt(-1e-310), 0);  // subnormal: counts as -0
  EXPECT_TRUE(std::isnan(Remainder(5.0, 0.0)));
  EXPECT_EQ(Remainder(-5.0, 3.0), -2);
  EXPECT_EQ(Remainder(5.0, kInf), 5);
}

TEST(Math, MaximumMinimumClamp) {
  EXPECT_TRUE(std::isnan(Maximum(1.0, kNan)) && std::isnan(Maximum(kNan, 1.0)));
  EXPECT_TRUE(std::isnan(Minimum(1.0F, std::nanf(""))));
  EXPECT_FALSE(std::signbit(Maximum(-0.0, 0.0)) || std::signbit(Maximum(0.0, -0.0)));
  EXPECT_TRUE(std::signbit(Minimum(-0.0, 0.0)) && std::signbit(Minimum(0.0, -0.0)));
  EXPECT_TRUE(std::isnan(Clamp(0.0, 0.0, kNan)) && std::isnan(Clamp(kNan, 0.0, 1.0)));
  EXPECT_EQ(Clamp(2.0, 5.0, 1.0), 1);
  EXPECT_FALSE(std::signbit(Clamp(0.0, -0.0, 2.0)));
}

}  // namespace
}  // namespace hlo::math
