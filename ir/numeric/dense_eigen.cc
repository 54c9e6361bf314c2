// Eigenvalues of Hermitian matrices by implicit QL steps, singular values by one-sided Jacobi rotations.
#include <algorithm>
#include <initializer_list>

#include "ir/numeric/dense.h"

namespace hlo::dense {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxSteps = 60;

/// Columns x, y := c x - s y, s x + c y.
template <class W>
void Rotate(W* x, W* y, int64_t count, double c, double s) {
  for (int64_t i = 0; i < count; ++i) {
    const W a = x[i], b = y[i];
    x[i] = a * c - b * s;
    y[i] = a * s + b * c;
  }
}

/// One QL step on rows [first, last] of a tridiagonal matrix, whose vectors are columns of z.
template <class W>
void QlStep(double* d, double* e, int64_t first, int64_t last, Matrix<W>* z) {
  double g = (d[first + 1] - d[first]) / (2 * e[first]);
  g = d[last] - d[first] + e[first] / (g + std::copysign(std::hypot(g, 1.0), g));
  double s = 1, c = 1, p = 0;
  for (int64_t i = last; i-- > first;) {
    const double f = s * e[i], b = c * e[i];
    double r = std::hypot(f, g);
    e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p;
      e[last] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    if (z != nullptr) Rotate(z->Column(i), z->Column(i + 1), z->rows, c, s);
  }
  d[first] -= p;
  e[first] = g;
  e[last] = 0;
}

/// Diagonalises the tridiagonal matrix; 0, or where it did not converge. e has room for one element more.
template <class W>
int64_t DiagonaliseTridiagonal(int64_t n, double* d, double* e, Matrix<W>* z) {
  e[n - 1] = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int step = 0;; ++step) {
      int64_t last = i;
      while (last + 1 < n &&
             !(std::fabs(e[last]) <= kEpsilon * (std::fabs(d[last]) + std::fabs(d[last + 1]))))
        ++last;
      if (last == i) break;
      if (step == kMaxSteps) return i + 1;
      QlStep(d, e, i, last, z);
    }
  }
  return 0;
}

/// Reorders columns (where there is a matrix) and values.
template <class W>
void Sort(double* values, int64_t n, bool descending, std::initializer_list<Matrix<W>*> matrices) {
  // Inserted one by one: nearly sorted as they come, and whatever they compare like.
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) {
    auto at = order.end();
    while (at != order.begin() && (descending ? values[at[-1]] < values[i] : values[at[-1]] > values[i]))
      --at;
    order.insert(at, i);
  }
  std::vector<double> old(values, values + n);
  for (int64_t i = 0; i < n; ++i) values[i] = old[static_cast<size_t>(order[static_cast<size_t>(i)])];
  for (Matrix<W>* m : matrices) {
    if (m == nullptr) continue;
    OwnedMatrix<W> copy(m->rows, n);
    for (int64_t j = 0; j < n; ++j) std::copy_n(m->Column(j), m->rows, copy.view().Column(j));
    for (int64_t j = 0; j < n; ++j)
      std::copy_n(copy.view().Column(order[static_cast<size_t>(j)]), m->rows, m->Column(j));
  }
}

}  // namespace

template <class W>
int64_t HermitianEigen(Matrix<W> a, double* values, bool vectors) {
  const int64_t n = a.rows;
  if (n == 0) return 0;
  if (HasNonFinite(a)) return n;
  const double scale = ScaleToOne(a);
  std::vector<double> e(static_cast<size_t>(n));
  std::vector<W> tau(static_cast<size_t>(n));
  ReduceToTridiagonal(a, /*lower=*/true, values, e.data(), tau.data());
  OwnedMatrix<W> q = OwnedMatrix<W>::Identity(vectors ? n : 1);
  Matrix<W> z = q.view();
  if (vectors) {
    for (int64_t j = 0; j + 2 < n; ++j) std::copy_n(&a(j + 2, j), n - j - 2, &z(j + 2, j + 1));
    GenerateQ(z.From(1, 1), n - 1, tau.data());
  }
  const int64_t failed = DiagonaliseTridiagonal<W>(n, values, e.data(), vectors ? &z : nullptr);
  Sort<W>(values, n, /*descending=*/false, {vectors ? &z : nullptr});
  for (int64_t i = 0; i < n; ++i) values[i] /= scale;
  for (int64_t j = 0; vectors && j < n; ++j) std::copy_n(z.Column(j), n, a.Column(j));
  return failed;
}

namespace {

/// Makes the columns of g orthogonal by rotations, which also turn the columns of `turned`. False if there
/// are always some that are not orthogonal enough.
template <class W>
bool OrthogonaliseColumns(Matrix<W> g, Matrix<W> turned) {
  const int64_t n = g.columns;
  for (int sweep = 0; sweep < kMaxSteps; ++sweep) {
    bool done = true;
    for (int64_t p = 0; p + 1 < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        W *x = g.Column(p), *y = g.Column(q);
        double xx = 0, yy = 0;
        W xy{};
        for (int64_t i = 0; i < g.rows; ++i) {
          xx += AbsoluteSquare(x[i]);
          yy += AbsoluteSquare(y[i]);
          xy = xy + Conj(x[i]) * y[i];
        }
        const double size = Magnitude(xy);
        if (size == 0 || size <= 4 * kEpsilon * std::sqrt(xx) * std::sqrt(yy)) continue;
        done = false;
        const double zeta = (yy - xx) / (2 * size);
        const double t = std::copysign(1 / (std::fabs(zeta) + std::hypot(1.0, zeta)), zeta);
        const double c = 1 / std::hypot(1.0, t), s = c * t;
        const W phase = Conj(DivideByReal(xy, size));
        W* const columns[][2] = {{x, y}, {turned.Column(p), turned.Column(q)}};
        for (const auto& [left, right] : columns) {
          for (int64_t i = 0; i < n; ++i) right[i] = right[i] * phase;
          Rotate(left, right, n, c, s);
        }
      }
    if (done) return true;
  }
  return false;
}

/// Replaces columns from `known` on by ones that are orthonormal to those before.
template <class W>
void CompleteColumns(Matrix<W> a, int64_t known) {
  if (known == a.columns) return;
  OwnedMatrix<W> copy(a.rows, a.columns);
  Matrix<W> q = copy.view();
  for (int64_t j = 0; j < known; ++j) std::copy_n(a.Column(j), a.rows, q.Column(j));
  std::vector<W> tau(static_cast<size_t>(known + 1));
  FactorQr(q.Part(0, 0, a.rows, known), tau.data());
  GenerateQ(q, known, tau.data());
  for (int64_t j = known; j < a.columns; ++j) std::copy_n(q.Column(j), a.rows, a.Column(j));
}

/// SingularValues of a matrix with at least as many rows as columns.
template <class W>
int64_t SingularValuesOfTall(Matrix<W> a, double* values, Matrix<W> u, Matrix<W> v) {
  const int64_t n = a.columns;
  const double scale = ScaleToOne(a);
  // a P = Q R and R^H J = W S give a = (Q J) S (P W)^H, where J is unitary whatever the rank of a is.
  std::vector<int> order(static_cast<size_t>(n));
  std::vector<W> tau(static_cast<size_t>(n));
  FactorQrPivoted(a, order.data(), tau.data());
  OwnedMatrix<W> r(n, n), rotations = OwnedMatrix<W>::Identity(n);
  Matrix<W> g = r.view(), turned = rotations.view();
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i <= j; ++i) g(j, i) = Conj(a(i, j));
  const bool converged = OrthogonaliseColumns(g, turned);
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += AbsoluteSquare(g(i, j));
    values[j] = std::sqrt(sum);
  }
  Sort<W>(values, n, /*descending=*/true, {&g, &turned});
  int64_t rank = 0;
  for (; rank < n && values[rank] > 1e-290; ++rank)
    for (int64_t i = 0; i < n; ++i) g(i, rank) = DivideByReal(g(i, rank), values[rank]);
  CompleteColumns(g, rank);
  for (int64_t j = 0; j < n; ++j) {
    values[j] /= scale;
    for (int64_t i = 0; i < n; ++i) v(order[static_cast<size_t>(i)] - 1, j) = g(i, j);
  }
  for (int64_t j = 0; j < u.columns; ++j) {
    std::fill_n(u.Column(j), u.rows, W{});
    if (j < n)
      std::copy_n(turned.Column(j), n, u.Column(j));
    else
      u(j, j) = FromReal<W>(1);
  }
  MultiplyQ(a, n, tau.data(), /*left=*/true, /*adjoint=*/false, u);
  return converged ? 0 : 1;
}

}  // namespace

template <class W>
int64_t SingularValues(Matrix<W> a, double* values, Matrix<W> u, Matrix<W> v) {
  if (a.rows >= a.columns) return SingularValuesOfTall(a, values, u, v);
  OwnedMatrix<W> adjoint(a.columns, a.rows);
  for (int64_t j = 0; j < a.columns; ++j)
    for (int64_t i = 0; i < a.rows; ++i) adjoint.view()(j, i) = Conj(a(i, j));
  return SingularValuesOfTall(adjoint.view(), values, v, u);
}

#define HLO_INSTANTIATE(W)                                   \
  template int64_t HermitianEigen(Matrix<W>, double*, bool); \
  template int64_t SingularValues(Matrix<W>, double*, Matrix<W>, Matrix<W>)
HLO_INSTANTIATE(double);
HLO_INSTANTIATE(PlainComplex);
#undef HLO_INSTANTIATE

}  // namespace hlo::dense
