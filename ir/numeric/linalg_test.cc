// Cholesky and triangular solves by multiplying back, over all options and element types.
#include "ir/numeric/linalg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

namespace hlo {
namespace {

template <class T>
class LinalgTest : public testing::Test {};
using Elements = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LinalgTest, Elements);

template <class T>
struct Real {
  using type = T;
  static T Make(double re, double) { return static_cast<T>(re); }
  static T Conj(T x) { return x; }
};
template <class R>
struct Real<std::complex<R>> {
  using type = R;
  static std::complex<R> Make(double re, double im) { return {static_cast<R>(re), static_cast<R>(im)}; }
  static std::complex<R> Conj(std::complex<R> x) { return std::conj(x); }
};

template <class T>
std::vector<T> Samples(size_t n, uint64_t seed) {
  const auto next = [&] {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(static_cast<int64_t>(seed)) * 0x1p-63;
  };
  std::vector<T> x(n);
  for (T& v : x) {
    const double re = next();
    v = Real<T>::Make(re, next());
  }
  return x;
}

/// Row-major (rows x inner) * (inner x columns).
template <class T>
std::vector<T> Product(const std::vector<T>& a, const std::vector<T>& b, size_t rows, size_t inner,
                       size_t columns) {
  std::vector<T> out(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      for (size_t k = 0; k < inner; ++k) out[i * columns + j] += a[i * inner + k] * b[k * columns + j];
  return out;
}

template <class T>
std::vector<T> Adjoint(const std::vector<T>& a, size_t n, bool conjugate) {
  std::vector<T> out(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) out[j * n + i] = conjugate ? Real<T>::Conj(a[i * n + j]) : a[i * n + j];
  return out;
}

template <class T>
double Difference(const std::vector<T>& a, const std::vector<T>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, static_cast<double>(std::abs(a[i] - b[i])));
  return worst;
}

template <class T>
double Unit() {
  return static_cast<double>(std::numeric_limits<typename Real<T>::type>::epsilon());
}

TYPED_TEST(LinalgTest, CholeskyMultipliesBack) {
  using T = TypeParam;
  for (const size_t n : {1U, 2U, 7U, 70U}) {
    const std::vector<T> x = Samples<T>(n * n, n);
    std::vector<T> a = Product(x, Adjoint(x, n, true), n, n, n);
    for (size_t i = 0; i < n; ++i) a[i * n + i] += T(1);
    for (const bool lower : {true, false}) {
      std::vector<T> input = a;
      const T nan = Real<T>::Make(std::nan(""), std::nan(""));
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
          if (lower ? j > i : j < i) input[i * n + j] = nan;
      std::vector<T> l(n * n);
      Cholesky(1, n, lower, input.data(), l.data());
      const std::vector<T> h = Adjoint(l, n, true);
      EXPECT_LT(Difference(lower ? Product(l, h, n, n, n) : Product(h, l, n, n, n), a),
                40 * Unit<T>() * static_cast<double>(n));
      if (n > 1) EXPECT_EQ(l[lower ? 1 : n], T(0));
    }
  }
}

TYPED_TEST(LinalgTest, TriangularSolveMultipliesBack) {
  using T = TypeParam;
  for (const size_t m : {1U, 5U, 67U}) {
    const size_t n = 3;
    for (int bits = 0; bits < 32; ++bits) {
      const TriangularSolveOptions o{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
                                     (bits & 16) != 0};
      if (o.conjugate && !o.transpose) continue;
      std::vector<T> a = Samples<T>(m * m, 3);
      const T nan = Real<T>::Make(std::nan(""), std::nan(""));
      std::vector<T> seen = a;  // what may not be read is NaN
      for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < m; ++j) {
          T& value = a[i * m + j];
          value = value * Real<T>::Make(1.0 / static_cast<double>(m), 0);
          if (i == j) value = o.unit_diagonal ? T(1) : value + T(2);
          seen[i * m + j] = value;
          if (o.lower ? j > i : j < i) value = T(0), seen[i * m + j] = nan;
          if (i == j && o.unit_diagonal) seen[i * m + j] = nan;
        }
      const std::vector<T> op = o.transpose ? Adjoint(a, m, o.conjugate) : a;
      const std::vector<T> b = Samples<T>(m * n, 17);
      std::vector<T> x(m * n);
      TriangularSolve(1, m, n, o, seen.data(), b.data(), x.data());
      const auto back = o.left_side ? Product(op, x, m, m, n) : Product(x, op, n, m, m);
      ASSERT_LT(Difference(back, b), 40 * Unit<T>()) << "options " << bits << " m " << m;
    }
  }
}

TEST(Linalg, NotPositiveDefiniteIsNanPerMatrix) {
  const double a[] = {1, 2, 2, 1, /**/ 4, 0, 0, 9, /**/ 0, 0, 0, 0};
  double l[12];
  Cholesky(3, 2, true, a, l);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(l[i]) && std::isnan(l[8 + i]));
  EXPECT_EQ(std::vector<double>(l + 4, l + 8), (std::vector<double>{2, 0, 0, 3}));
}

TEST(Linalg, CholeskyIgnoresTheImaginaryDiagonal) {
  const std::complex<double> a(9, 5);
  std::complex<double> l;
  Cholesky(1, 1, true, &a, &l);
  EXPECT_EQ(l, std::complex<double>(3, 0));
}

TEST(Linalg, ZeroDiagonalGivesInfinities) {
  const double a[] = {0, 0, 1, 2};
  const double b[] = {1, 1};
  double x[2];
  TriangularSolve(1, 2, 1, {.left_side = true, .lower = true}, a, b, x);
  EXPECT_EQ(x[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(x[1], -std::numeric_limits<double>::infinity());
}

TEST(Linalg, EmptyMatrices) {
  Cholesky<float>(3, 0, true, nullptr, nullptr);
  TriangularSolve<double>(2, 0, 5, {}, nullptr, nullptr, nullptr);
  const double a = 2;
  TriangularSolve<double>(1, 1, 0, {}, &a, nullptr, nullptr);
}

}  // namespace
}  // namespace hlo
