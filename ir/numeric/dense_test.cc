// Decompositions by multiplying back, for matrices of several shapes, ranks and scales.
#include "ir/numeric/dense.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hlo::dense {
namespace {

template <class W>
class DenseTest : public testing::Test {};
using Numbers = testing::Types<double, PlainComplex>;
TYPED_TEST_SUITE(DenseTest, Numbers);

double Next(uint64_t& seed) {
  seed = seed * 6364136223846793005U + 1442695040888963407U;
  return static_cast<double>(static_cast<int64_t>(seed)) * 0x1p-63;
}
void Draw(double& x, uint64_t& seed) { x = Next(seed); }
void Draw(PlainComplex& x, uint64_t& seed) { x = {Next(seed), Next(seed)}; }

template <class W>
OwnedMatrix<W> Random(int64_t rows, int64_t columns, uint64_t seed) {
  OwnedMatrix<W> a(rows, columns);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) Draw(a.view()(i, j), seed);
  return a;
}

/// op(a) b, op being the adjoint or nothing.
template <class W>
OwnedMatrix<W> Product(Matrix<W> a, Matrix<W> b, bool adjoint = false) {
  OwnedMatrix<W> c(adjoint ? a.columns : a.rows, b.columns);
  for (int64_t j = 0; j < b.columns; ++j)
    for (int64_t k = 0; k < b.rows; ++k)
      for (int64_t i = 0; i < c.view().rows; ++i)
        c.view()(i, j) = c.view()(i, j) + (adjoint ? Conj(a(k, i)) : a(i, k)) * b(k, j);
  return c;
}
template <class W>
OwnedMatrix<W> Adjoint(Matrix<W> a) {
  OwnedMatrix<W> c(a.columns, a.rows);
  for (int64_t j = 0; j < a.columns; ++j)
    for (int64_t i = 0; i < a.rows; ++i) c.view()(j, i) = Conj(a(i, j));
  return c;
}
template <class W>
double Distance(Matrix<W> a, Matrix<W> b) {
  double largest = 0;
  for (int64_t j = 0; j < a.columns; ++j)
    for (int64_t i = 0; i < a.rows; ++i) largest = std::max(largest, Size(a(i, j) - b(i, j)));
  return largest;
}
template <class W>
void ExpectOrthonormal(Matrix<W> q) {
  EXPECT_LT(Distance(Product(q, q, /*adjoint=*/true).view(), OwnedMatrix<W>::Identity(q.columns).view()),
            1e-12);
}
/// A matrix with `values` on its diagonal.
template <class W>
OwnedMatrix<W> Diagonal(int64_t rows, int64_t columns, const std::vector<double>& values) {
  OwnedMatrix<W> d(rows, columns);
  for (size_t i = 0; i < values.size(); ++i)
    d.view()(static_cast<int64_t>(i), static_cast<int64_t>(i)) = FromReal<W>(values[i]);
  return d;
}

TYPED_TEST(DenseTest, QrWithAndWithoutPivots) {
  using W = TypeParam;
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {7, 7}, {20, 6}, {5, 9}}) {
    OwnedMatrix<W> a = Random<W>(m, n, 1);
    for (const bool pivoted : {false, true}) {
      OwnedMatrix<W> qr = a;
      const int64_t count = std::min(m, n);
      std::vector<W> tau(static_cast<size_t>(count));
      std::vector<int> order(static_cast<size_t>(n));
      if (pivoted)
        FactorQrPivoted(qr.view(), order.data(), tau.data());
      else
        FactorQr(qr.view(), tau.data());
      OwnedMatrix<W> r(m, n), q(m, m);
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i <= std::min(j, m - 1); ++i) r.view()(i, j) = qr.view()(i, j);
      for (int64_t j = 0; j < count; ++j) std::copy_n(qr.view().Column(j), m, q.view().Column(j));
      GenerateQ(q.view(), count, tau.data());
      ExpectOrthonormal(q.view());
      OwnedMatrix<W> by_reflectors = r;
      MultiplyQ(qr.view(), count, tau.data(), /*left=*/true, /*adjoint=*/false, by_reflectors.view());
      OwnedMatrix<W> expected(m, n);
      for (int64_t j = 0; j < n; ++j)
        std::copy_n(a.view().Column(pivoted ? order[static_cast<size_t>(j)] - 1 : j), m,
                    expected.view().Column(j));
      EXPECT_LT(Distance(by_reflectors.view(), expected.view()), 1e-13);
      EXPECT_LT(Distance(Product(q.view(), r.view()).view(), expected.view()), 1e-13);
    }
  }
}

TYPED_TEST(DenseTest, TridiagonalFormOfEitherTriangle) {
  using W = TypeParam;
  constexpr int64_t kSize = 9;
  OwnedMatrix<W> a = Random<W>(kSize, kSize, 2);
  OwnedMatrix<W> hermitian = Product(a.view(), a.view(), /*adjoint=*/true);
  std::vector<double> values(kSize), others(kSize), e(kSize);
  OwnedMatrix<W> copy = hermitian;
  EXPECT_EQ(HermitianEigen(copy.view(), values.data(), /*vectors=*/false), 0);
  for (const bool lower : {true, false}) {
    OwnedMatrix<W> t = hermitian, rebuilt(kSize, kSize);
    std::vector<W> tau(kSize);
    ReduceToTridiagonal(t.view(), lower, others.data(), e.data(), tau.data());
    for (int64_t i = 0; i < kSize; ++i) {
      rebuilt.view()(i, i) = FromReal<W>(others[static_cast<size_t>(i)]);
      if (i + 1 < kSize) rebuilt.view()(i + 1, i) = FromReal<W>(e[static_cast<size_t>(i)]);
    }
    EXPECT_EQ(HermitianEigen(rebuilt.view(), others.data(), /*vectors=*/false), 0);
    for (size_t i = 0; i < kSize; ++i) EXPECT_NEAR(values[i], others[i], 1e-12);
  }
}

TYPED_TEST(DenseTest, HermitianEigenvectors) {
  using W = TypeParam;
  for (const double scale : {1.0, 1e200, 1e-200})
    for (const int64_t n : {1, 2, 3, 30}) {
      OwnedMatrix<W> a = Random<W>(n, n, 3);
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i <= j; ++i) {
          a.view()(i, j) = i == j ? FromReal<W>(RealPart(a.view()(i, j)) * scale) : a.view()(i, j) * scale;
          a.view()(j, i) = Conj(a.view()(i, j));
        }
      OwnedMatrix<W> v = a;
      std::vector<double> values(static_cast<size_t>(n));
      EXPECT_EQ(HermitianEigen(v.view(), values.data(), /*vectors=*/true), 0);
      EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
      ExpectOrthonormal(v.view());
      OwnedMatrix<W> left = Product(a.view(), v.view());
      OwnedMatrix<W> right = Product(v.view(), Diagonal<W>(n, n, values).view());
      EXPECT_LT(Distance(left.view(), right.view()) / scale, 1e-12);
    }
}

TYPED_TEST(DenseTest, SingularVectorsOfAllShapesAndRanks) {
  using W = TypeParam;
  for (const auto& [m, n, rank] :
       {std::array<int64_t, 3>{1, 1, 1}, {12, 5, 5}, {5, 12, 5}, {9, 9, 4}, {6, 6, 0}})
    for (const bool full : {false, true}) {
      OwnedMatrix<W> a = Product(Random<W>(m, rank, 4).view(), Random<W>(rank, n, 5).view());
      const int64_t small = std::min(m, n);
      OwnedMatrix<W> u(m, full ? m : small), v(n, full ? n : small), copy = a;
      std::vector<double> values(static_cast<size_t>(small));
      EXPECT_EQ(SingularValues(copy.view(), values.data(), u.view(), v.view()), 0);
      EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
      for (int64_t i = rank; i < small; ++i) EXPECT_LT(values[static_cast<size_t>(i)], 1e-13);
      ExpectOrthonormal(u.view());
      ExpectOrthonormal(v.view());
      OwnedMatrix<W> s = Diagonal<W>(u.view().columns, v.view().columns, values);
      OwnedMatrix<W> rebuilt = Product(Product(u.view(), s.view()).view(), Adjoint(v.view()).view());
      EXPECT_LT(Distance(rebuilt.view(), a.view()), 1e-12);
    }
}

TYPED_TEST(DenseTest, SchurFormAndEigenvectors) {
  using W = TypeParam;
  for (const int64_t n : {1, 2, 3, 4, 25}) {
    OwnedMatrix<W> a = Random<W>(n, n, 6), t = a, z(n, n);
    ASSERT_EQ(Schur(t.view(), z.view()), 0);
    ExpectOrthonormal(z.view());
    OwnedMatrix<W> rebuilt = Product(Product(z.view(), t.view()).view(), Adjoint(z.view()).view());
    EXPECT_LT(Distance(rebuilt.view(), a.view()), 1e-12);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j + 1; i < n; ++i) {
        const bool pair = i == j + 1 && std::is_same_v<W, double> && Size(t.view()(i, j)) > 0;
        if (pair)
          EXPECT_EQ(RealPart(t.view()(i, i)), RealPart(t.view()(j, j)));
        else
          EXPECT_EQ(Size(t.view()(i, j)), 0);
      }
    OwnedMatrix<PlainComplex> left(n, n), right(n, n), wide(n, n);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i)
        wide.view()(i, j) = {RealPart(a.view()(i, j)), ImagPart(a.view()(i, j))};
    std::vector<PlainComplex> values(static_cast<size_t>(n));
    Matrix<PlainComplex> l = left.view(), r = right.view();
    OwnedMatrix<W> copy = a;
    ASSERT_EQ(Eigen(copy.view(), values.data(), &l, &r), 0);
    OwnedMatrix<PlainComplex> ar = Product(wide.view(), r), la = Product(wide.view(), l, /*adjoint=*/true);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) {
        const PlainComplex value = values[static_cast<size_t>(j)];
        EXPECT_LT(Size(ar.view()(i, j) - r(i, j) * value), 1e-11);
        EXPECT_LT(Size(la.view()(i, j) - l(i, j) * Conj(value)), 1e-11);
      }
  }
}

TYPED_TEST(DenseTest, TridiagonalSystemsNeedPivots) {
  using W = TypeParam;
  constexpr int64_t kSize = 12;
  OwnedMatrix<W> bands = Random<W>(kSize, 3, 7), b = Random<W>(kSize, 2, 8);
  Matrix<W> dl = bands.view().Part(0, 0, kSize - 1, 1), d = bands.view().From(0, 1),
            du = bands.view().Part(0, 2, kSize - 1, 1);
  d(3, 0) = d(kSize - 2, 0) = W{};
  OwnedMatrix<W> a(kSize, kSize), x = b;
  for (int64_t i = 0; i < kSize; ++i) {
    a.view()(i, i) = d(i, 0);
    if (i + 1 == kSize) break;
    a.view()(i + 1, i) = dl(i, 0);
    a.view()(i, i + 1) = du(i, 0);
  }
  EXPECT_EQ(SolveTridiagonal(kSize, dl.data, d.data, du.data, x.view()), 0);
  EXPECT_LT(Distance(Product(a.view(), x.view()).view(), b.view()), 1e-11);
}

TYPED_TEST(DenseTest, FailuresSayWhere) {
  using W = TypeParam;
  OwnedMatrix<W> a = Diagonal<W>(3, 3, {4, -1, 1});
  EXPECT_EQ(FactorCholesky(a.view()), 2);
  std::vector<int> pivots(3);
  OwnedMatrix<W> singular = Diagonal<W>(3, 3, {1, 0, 1});
  EXPECT_EQ(FactorLu(singular.view(), pivots.data()), 2);
  OwnedMatrix<W> infinite = Diagonal<W>(2, 2, {1, std::numeric_limits<double>::infinity()}), z(2, 2);
  std::vector<double> values(2);
  EXPECT_NE(HermitianEigen(infinite.view(), values.data(), true), 0);
  EXPECT_NE(Schur(infinite.view(), z.view()), 0);
}

}  // namespace
}  // namespace hlo::dense
