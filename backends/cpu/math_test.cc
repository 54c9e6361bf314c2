// Accuracy of compiled elementary functions against the C library in higher precision.
//
// HLO_MATH_STRIDE=1 looks at every f32 value instead of each 4999th, HLO_MATH_PRINT=1 prints the worst cases.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <mutex>
#include <random>

#include "backends/cpu/compiled_function.h"
#include "ir/numeric/math.h"

namespace hlo::cpu {
namespace {

constexpr double kWrong = 1e30;

/// |got - want| in units of the last place of T at `want`. Infinity stands for the number after the largest.
template <class T, class Wide>
double Ulps(T got, Wide want) {
  using L = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  if (std::isinf(want)) return static_cast<Wide>(got) == want ? 0 : kWrong;
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : kWrong;
  const Wide beyond = std::ldexp(Wide{1}, L::max_exponent);
  if (std::isinf(got) && std::fabs(want) >= beyond)
    return std::signbit(got) == std::signbit(want) ? 0 : kWrong;
  const Wide value = std::isinf(got) ? std::copysign(beyond, static_cast<Wide>(got)) : static_cast<Wide>(got);
  const int exponent = std::max(std::ilogb(want), L::min_exponent - 1);
  return static_cast<double>(std::fabs(std::ldexp(value - want, L::digits - 1 - exponent)));
}

template <class T>
struct Worst {
  double ulps = 0;
  T x = 0, y = 0, got = 0;
  void See(double u, T x0, T y0, T result) {
    if (u > ulps) *this = {u, x0, y0, result};
  }
};

template <class T>
void Report(const char* name, const Worst<T>& worst, double bound) {
  if (std::getenv("HLO_MATH_PRINT") != nullptr)
    std::printf("%s %s: %.3f ULP at %a %a: %a\n", name, sizeof(T) == 4 ? "f32" : "f64", worst.ulps,
                static_cast<double>(worst.x), static_cast<double>(worst.y), static_cast<double>(worst.got));
  EXPECT_LE(worst.ulps, bound) << name << " of " << worst.x << ", " << worst.y << " is " << worst.got;
}

template <class T>
const std::vector<T>& Specials() {
  using L = std::numeric_limits<T>;
  static const std::vector<T> values = [] {
    std::vector<T> v = {0,
                        L::denorm_min(),
                        L::min() / 2,
                        L::min(),
                        L::epsilon(),
                        L::epsilon() / 2,
                        T(0.25),
                        T(0.5),
                        1,
                        T(1.5),
                        2,
                        3,
                        4,
                        5,
                        T(1e6),
                        16777215,
                        16777216,
                        T(1e20),
                        L::max(),
                        L::infinity(),
                        L::quiet_NaN()};
    for (const T x : {T(0.5), T(1), T(2)})
      v.insert(v.end(), {std::nextafter(x, T(0)), std::nextafter(x, T(9))});
    const size_t n = v.size();
    for (size_t i = 0; i < n; ++i) v.push_back(-v[i]);
    return v;
  }();
  return values;
}

template <class T, class Wide>
Worst<T> Try(const CompiledFunction& f, std::vector<T>& x, Wide (*reference)(Wide)) {
  std::vector<T> out(x.size());
  f({x.data(), out.data()});
  Worst<T> worst;
  for (size_t i = 0; i < x.size(); ++i)
    worst.See(Ulps<T, Wide>(out[i], reference(static_cast<Wide>(x[i]))), x[i], 0, out[i]);
  return worst;
}

template <class Wide>
Wide Logistic(Wide x) {
  return 1 / (1 + std::exp(-x));
}

struct Row {
  OpKind kind;
  double (*f32)(double);
  double bound32;
  long double (*f64)(long double);
  double bound64;
};
#define HLO_ROW(Kind, name, bound32, bound64) {OpKind::Kind, std::name, bound32, std::name, bound64}
const Row kRows[] = {
    HLO_ROW(Exp, exp, 2, 2),
    HLO_ROW(Expm1, expm1, 2, 2),
    {OpKind::Logistic, Logistic<double>, 2, Logistic<long double>, 2},
    HLO_ROW(Tanh, tanh, 2, 2),
    HLO_ROW(Log, log, 2, 2),
    HLO_ROW(Log1p, log1p, 2, 2),
    HLO_ROW(Erf, erf, 2, 2),
    HLO_ROW(Sin, sin, 2, 2),
    HLO_ROW(Cos, cos, 2, 2),
    HLO_ROW(Tan, tan, 2, 2),
    HLO_ROW(Cbrt, cbrt, 2, 2),
    HLO_ROW(Asin, asin, 1, 2),
    HLO_ROW(Acos, acos, 1, 2),
    HLO_ROW(Sinh, sinh, 1, 2),
    HLO_ROW(Cosh, cosh, 1, 2),
    HLO_ROW(Asinh, asinh, 1, 2),
    HLO_ROW(Acosh, acosh, 1, 2),
    HLO_ROW(Atanh, atanh, 1, 2),
};

TEST(Math, OneOperand32) {
  const char* given = std::getenv("HLO_MATH_STRIDE");
  const uint64_t stride = given == nullptr ? 4999 : std::strtoull(given, nullptr, 10);
  const char* only = std::getenv("HLO_MATH_ONLY");
  for (const Row& row : kRows) {
    if (only != nullptr && Info(row.kind).text != only) continue;
    const CompiledFunction f(row.kind, {ElementType::F32}, ElementType::F32);
    ASSERT_TRUE(f) << Info(row.kind).text.str();
    Worst<float> worst;
    std::vector<float> x = Specials<float>();
    for (uint64_t bits = 0; bits <= ~uint32_t{0};) {
      for (; x.size() < CompiledFunction::kBatch; bits += stride)
        x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
      const Worst<float> now = Try<float, double>(f, x, row.f32);
      worst.See(now.ulps, now.x, 0, now.got);
      x.clear();
    }
    Report(Info(row.kind).text.str().c_str(), worst, row.bound32);
  }
}

TEST(Math, OneOperand64) {
  for (const Row& row : kRows) {
    const CompiledFunction f(row.kind, {ElementType::F64}, ElementType::F64);
    if (!f) continue;
    std::mt19937_64 random(7);
    Worst<double> worst;
    for (int round = 0; round < 2; ++round) {
      std::vector<double> x = Specials<double>();
      while (x.size() < CompiledFunction::kBatch) {
        // All numbers, and those that matter.
        const uint64_t bits = random();
        const double any = std::bit_cast<double>(bits);
        x.push_back(
            round == 0
                ? any
                : std::ldexp(std::copysign(1 + static_cast<double>(bits & 0xfffffffffffff) * 0x1p-52, any),
                             static_cast<int>(bits >> 52 & 31) - 20));
      }
      const Worst<double> now = Try<double, long double>(f, x, row.f64);
      worst.See(now.ulps, now.x, 0, now.got);
    }
    Report(Info(row.kind).text.str().c_str(), worst, row.bound64);
  }
}

template <class T, class Wide>
void TwoOperands(OpKind kind, ElementType type, Wide (*reference)(Wide, Wide), double bound) {
  const CompiledFunction f(kind, {type, type}, type);
  if (!f) return;
  std::vector<T> x, y;
  for (const T a : Specials<T>())
    for (const T b : Specials<T>()) {
      x.push_back(a);
      y.push_back(b);
    }
  std::mt19937_64 random(7);
  std::uniform_real_distribution<T> exponent(-20, 20);
  while (x.size() < CompiledFunction::kBatch) {
    // Any bits, and pairs whose powers are of moderate size.
    using Code = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const T a = std::bit_cast<T>(static_cast<Code>(random())),
            b = std::bit_cast<T>(static_cast<Code>(random()));
    const bool moderate = x.size() % 4 != 0;
    x.push_back(moderate ? std::exp2(exponent(random)) : a);
    y.push_back(moderate ? exponent(random) * (x.size() % 4 == 1 ? T(8) : T(1)) : b);
    if (x.size() % 8 == 5) y.back() = std::round(y.back()), x.back() = -x.back();
  }
  std::vector<T> out(CompiledFunction::kBatch);
  f({x.data(), y.data(), out.data()});
  Worst<T> worst;
  for (size_t i = 0; i < CompiledFunction::kBatch; ++i)
    worst.See(Ulps<T, Wide>(out[i], reference(static_cast<Wide>(x[i]), static_cast<Wide>(y[i]))), x[i], y[i],
              out[i]);
  Report(Info(kind).text.str().c_str(), worst, bound);
}

TEST(Math, Power) {
  TwoOperands<float, double>(OpKind::Power, ElementType::F32, math::Pow, 3);
  TwoOperands<double, long double>(OpKind::Power, ElementType::F64, std::pow, 2);
}
TEST(Math, Atan2) {
  TwoOperands<float, double>(OpKind::Atan2, ElementType::F32, math::Atan2, 3);
  TwoOperands<double, long double>(OpKind::Atan2, ElementType::F64, std::atan2, 2);
}

}  // namespace
}  // namespace hlo::cpu
