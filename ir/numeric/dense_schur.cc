// Schur forms and eigenvectors of general matrices by QR steps on Hessenberg matrices.
#include <algorithm>
#include <array>

#include "ir/numeric/dense.h"

namespace hlo::dense {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kStepsPerValue = 60;

/// A rotation of two rows by (c, s; -conj(s), c), and of two columns by its adjoint.
template <class W>
struct Rotation {
  double c = 1;
  W s{};
  /// Turns (x, y) into (r, 0).
  static Rotation Onto(W x, W y) {
    const double size = Magnitude(x), r = std::hypot(size, Magnitude(y));
    if (r == 0) return {};
    const W phase = size == 0 ? FromReal<W>(1) : DivideByReal(x, size);
    return {size / r, DivideByReal(phase * Conj(y), r)};
  }
  void Rows(Matrix<W> a, int64_t i, int64_t from_column) const {
    for (int64_t j = from_column; j < a.columns; ++j) {
      const W x = a(i, j), y = a(i + 1, j);
      a(i, j) = x * c + s * y;
      a(i + 1, j) = y * c - Conj(s) * x;
    }
  }
  void Columns(Matrix<W> a, int64_t j, int64_t rows) const {
    for (int64_t i = 0; i < rows; ++i) {
      const W x = a(i, j), y = a(i, j + 1);
      a(i, j) = x * c + Conj(s) * y;
      a(i, j + 1) = y * c - s * x;
    }
  }
  /// The similarity that it is.
  void Both(Matrix<W> t, Matrix<W> z, int64_t i) const {
    Rows(t, i, 0);
    Columns(t, i, t.rows);
    Columns(z, i, z.rows);
  }
};

/// The first row of the block that ends with row `last`: elements next to the diagonal before it are zero.
template <class W>
int64_t BlockBegin(Matrix<W> h, int64_t last) {
  int64_t first = last;
  for (; first > 0; --first) {
    double neighbours = Size(h(first - 1, first - 1)) + Size(h(first, first));
    if (neighbours == 0) neighbours = 1;
    if (!(Size(h(first, first - 1)) > kEpsilon * neighbours)) {
      h(first, first - 1) = W{};
      break;
    }
  }
  return first;
}

/// The eigenvalue of the last 2 x 2 block that is closer to its last element.
PlainComplex Shift(Matrix<PlainComplex> h, int64_t last) {
  const PlainComplex a = h(last - 1, last - 1), b = h(last - 1, last), c = h(last, last - 1),
                     d = h(last, last);
  const PlainComplex half = (a - d) * 0.5, square = half * half + b * c;
  const std::complex<double> root = std::sqrt(std::complex<double>(square.re, square.im));
  const PlainComplex plus = half + PlainComplex(root.real(), root.imag()),
                     minus = half - PlainComplex(root.real(), root.imag());
  const PlainComplex larger = Magnitude(plus) > Magnitude(minus) ? plus : minus;
  return Magnitude(larger) == 0 ? d : d - b * c / larger;
}

/// One implicit step with a single shift on rows [first, last].
void QrStep(Matrix<PlainComplex> h, Matrix<PlainComplex> z, int64_t first, int64_t last, PlainComplex shift) {
  PlainComplex x = h(first, first) - shift, y = h(first + 1, first);
  for (int64_t k = first; k < last; ++k) {
    const auto rotation = Rotation<PlainComplex>::Onto(x, y);
    rotation.Rows(h, k, std::max(first, k - 1));
    rotation.Columns(h, k, std::min(k + 2, last) + 1);
    rotation.Columns(z, k, z.rows);
    if (k > first) h(k + 1, k - 1) = {};
    if (k + 1 >= last) continue;
    x = h(k + 1, k);
    y = h(k + 2, k);
  }
}

/// One implicit step with two shifts whose sum and product are given, on rows [first, last] (three or more).
void QrStep(Matrix<double> h, Matrix<double> z, int64_t first, int64_t last, double sum, double product) {
  const double a = h(first, first), b = h(first, first + 1), c = h(first + 1, first),
               d = h(first + 1, first + 1);
  std::array<double, 3> column = {a * a + b * c - sum * a + product, c * (a + d - sum),
                                  c * h(first + 2, first + 1)};
  for (int64_t k = first; k < last; ++k) {
    const int64_t rows = std::min<int64_t>(3, last - k + 1), from = std::max(first, k - 1);
    const double tau = MakeReflector(column[0], column.data() + 1, rows - 1);
    const double* tail = column.data() + 1;
    ReflectRows(tail, tau, h.Part(k, from, rows, h.columns - from));
    ReflectColumns(tail, tau, h.Part(0, k, std::min(k + 3, last) + 1, rows));
    ReflectColumns(tail, tau, z.Part(0, k, z.rows, rows));
    if (k > first)
      for (int64_t i = 1; i < rows; ++i) h(k + i, k - 1) = 0;
    if (k + 1 >= last) continue;
    column = {h(k + 1, k), h(k + 2, k), k + 3 <= last ? h(k + 3, k) : 0};
  }
}

/// Makes the 2 x 2 block at (i, i) triangular if its eigenvalues are real, else its diagonal equal.
void StandardiseBlock(Matrix<double> t, Matrix<double> z, int64_t i) {
  const double a = t(i, i), b = t(i, i + 1), c = t(i + 1, i), d = t(i + 1, i + 1);
  if (c == 0) return;
  const double p = 0.5 * (a - d), discriminant = p * p + b * c;
  if (discriminant >= 0) {
    const double root = p + std::copysign(std::sqrt(discriminant), p);
    Rotation<double>::Onto(root, c).Both(t, z, i);
    t(i + 1, i) = 0;
    return;
  }
  const double sum = b + c, length = std::hypot(sum, a - d);
  Rotation<double> rotation;
  rotation.c = std::sqrt(0.5 * (1 + std::fabs(sum) / length));
  rotation.s = -(p / (length * rotation.c)) * std::copysign(1.0, sum);
  rotation.Both(t, z, i);
  t(i, i) = t(i + 1, i + 1) = 0.5 * (t(i, i) + t(i + 1, i + 1));
}

/// Finds one eigenvalue or a pair at the end of rows [first, last], or makes a step towards it; returns the
/// last row that is left.
int64_t Advance(Matrix<PlainComplex> h, Matrix<PlainComplex> z, int64_t first, int64_t last, int step) {
  if (first == last) return last - 1;
  const bool stuck = step % 10 == 9;
  QrStep(h, z, first, last,
         stuck ? PlainComplex(Size(h(last, last - 1)) + Size(h(last, last)), 0) : Shift(h, last));
  return last;
}
int64_t Advance(Matrix<double> h, Matrix<double> z, int64_t first, int64_t last, int step) {
  if (first == last) return last - 1;
  if (first + 1 == last) {
    StandardiseBlock(h, z, first);
    return last - 2;
  }
  const double a = h(last - 1, last - 1), b = h(last - 1, last), c = h(last, last - 1), d = h(last, last);
  double sum = a + d, product = a * d - b * c;
  if (step % 10 == 9) {
    const double size = std::fabs(c) + std::fabs(h(last - 1, last - 2));
    sum = 1.5 * size;
    product = size * size;
  }
  QrStep(h, z, first, last, sum, product);
  return last;
}

}  // namespace

template <class W>
int64_t Schur(Matrix<W> a, Matrix<W> z) {
  const int64_t n = a.rows;
  for (int64_t j = 0; j < n; ++j) {
    std::fill_n(z.Column(j), n, W{});
    z(j, j) = FromReal<W>(1);
  }
  if (HasNonFinite(a)) return n;
  const double scale = ScaleToOne(a);
  std::vector<W> tau(static_cast<size_t>(n + 1));
  ReduceToHessenberg(a, 0, n, tau.data());
  for (int64_t j = 0; j + 1 < n; ++j) {
    if (j + 2 < n) std::copy_n(&a(j + 2, j), n - j - 2, &z(j + 2, j + 1));
    std::fill_n(&a(j + 1, j) + 1, n - j - 2, W{});
  }
  if (n > 1) GenerateQ(z.From(1, 1), n - 1, tau.data());
  int64_t last = n - 1;
  for (int step = 0; last >= 0; ++step) {
    const int64_t left = Advance(a, z, BlockBegin(a, last), last, step);
    if (left == last && step == kStepsPerValue) break;
    if (left != last) step = -1;
    last = left;
  }
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) a(i, j) = DivideByReal(a(i, j), scale);
  return last + 1;
}

namespace {

void CopyComplex(Matrix<PlainComplex> from, Matrix<PlainComplex> to) {
  for (int64_t j = 0; j < from.columns; ++j) std::copy_n(from.Column(j), from.rows, to.Column(j));
}
void CopyComplex(Matrix<double> from, Matrix<PlainComplex> to) {
  for (int64_t j = 0; j < from.columns; ++j)
    for (int64_t i = 0; i < from.rows; ++i) to(i, j) = {from(i, j), 0};
}

/// Whether the eigenvalue at j of a real Schur form is the first of a pair.
bool StartsPair(Matrix<double> t, int64_t j) { return j + 1 < t.rows && t(j + 1, j) != 0; }
bool StartsPair(Matrix<PlainComplex>, int64_t) { return false; }

/// Makes complex blocks of a real Schur form triangular, the eigenvalue above the real axis first.
void SplitPairs(Matrix<double> real, Matrix<PlainComplex> t, Matrix<PlainComplex> z) {
  for (int64_t j = 0; j < t.rows; ++j) {
    if (!StartsPair(real, j)) continue;
    const double height = std::sqrt(std::fabs(real(j, j + 1))) * std::sqrt(std::fabs(real(j + 1, j)));
    Rotation<PlainComplex>::Onto({0, height}, t(j + 1, j)).Both(t, z, j);
    t(j, j) = {real(j, j), height};
    t(j + 1, j + 1) = {real(j, j), -height};
    t(j + 1, j) = {};
  }
}
void SplitPairs(Matrix<PlainComplex>, Matrix<PlainComplex>, Matrix<PlainComplex>) {}

/// Solves for the eigenvector of the triangular matrix at place k: of t, or of its adjoint.
void TriangularVector(Matrix<PlainComplex> t, int64_t k, bool adjoint, double smallest,
                      std::vector<PlainComplex>& y) {
  const int64_t n = t.rows;
  std::fill(y.begin(), y.end(), PlainComplex{});
  y[static_cast<size_t>(k)] = {1, 0};
  for (int64_t step = 1; adjoint ? k + step < n : step <= k; ++step) {
    const int64_t i = adjoint ? k + step : k - step;
    PlainComplex sum;
    if (adjoint)
      for (int64_t j = k; j < i; ++j) sum = sum + Conj(t(j, i)) * y[static_cast<size_t>(j)];
    else
      for (int64_t j = i + 1; j <= k; ++j) sum = sum + t(i, j) * y[static_cast<size_t>(j)];
    PlainComplex pivot = t(i, i) - t(k, k);
    if (Size(pivot) < smallest) pivot = {smallest, 0};
    const PlainComplex value = PlainComplex{} - sum / (adjoint ? Conj(pivot) : pivot);
    y[static_cast<size_t>(i)] = value;
    if (Size(value) > 1e100)
      for (PlainComplex& element : y) element = element * 1e-100;
  }
}

/// Scales to length 1, with a real largest element.
void Normalise(PlainComplex* x, int64_t n) {
  double sum = 0, largest = 0, size = 0;
  for (int64_t i = 0; i < n; ++i) size = std::max(size, Size(x[i]));
  if (size == 0) return;
  PlainComplex phase(1, 0);
  for (int64_t i = 0; i < n; ++i) {
    x[i] = DivideByReal(x[i], size);
    const double square = AbsoluteSquare(x[i]);
    sum += square;
    if (square > largest) largest = square, phase = DivideByReal(Conj(x[i]), std::sqrt(square));
  }
  for (int64_t i = 0; i < n; ++i) {
    const bool is_largest = AbsoluteSquare(x[i]) == largest;
    x[i] = DivideByReal(x[i] * phase, std::sqrt(sum));
    if (is_largest && std::fabs(x[i].im) < 1e-14) x[i].im = 0;
  }
}

}  // namespace

template <class W>
int64_t Eigen(Matrix<W> a, PlainComplex* values, Matrix<PlainComplex>* left, Matrix<PlainComplex>* right) {
  const int64_t n = a.rows;
  OwnedMatrix<W> unitary(n, n);
  if (const int64_t failed = Schur(a, unitary.view()); failed != 0) return failed;
  OwnedMatrix<PlainComplex> t(n, n), z(n, n);
  CopyComplex(a, t.view());
  CopyComplex(unitary.view(), z.view());
  SplitPairs(a, t.view(), z.view());
  const double scale = ScaleToOne(t.view());
  std::vector<PlainComplex> y(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    values[k] = DivideByReal(t.view()(k, k), scale);
    for (Matrix<PlainComplex>* vectors : {left, right}) {
      if (vectors == nullptr) continue;
      TriangularVector(t.view(), k, vectors == left, kEpsilon, y);
      PlainComplex* x = vectors->Column(k);
      std::fill_n(x, n, PlainComplex{});
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) x[i] = x[i] + z.view()(i, j) * y[static_cast<size_t>(j)];
      Normalise(x, n);
    }
  }
  for (int64_t k = 0; k < n; ++k) {
    if (!StartsPair(a, k)) continue;
    for (Matrix<PlainComplex>* vectors : {left, right})
      for (int64_t i = 0; vectors != nullptr && i < n; ++i) (*vectors)(i, k + 1) = Conj((*vectors)(i, k));
  }
  return 0;
}

#define HLO_INSTANTIATE(W)                      \
  template int64_t Schur(Matrix<W>, Matrix<W>); \
  template int64_t Eigen(Matrix<W>, PlainComplex*, Matrix<PlainComplex>*, Matrix<PlainComplex>*)
HLO_INSTANTIATE(double);
HLO_INSTANTIATE(PlainComplex);
#undef HLO_INSTANTIATE

}  // namespace hlo::dense
