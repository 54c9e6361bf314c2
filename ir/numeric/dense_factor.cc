// Factorisations of dense matrices by elimination and by Householder reflectors.
#include <algorithm>
#include <numeric>

#include "ir/numeric/dense.h"

namespace hlo::dense {
namespace {

/// The Euclidean norm, without overflow on the way.
template <class W>
double Norm(const W* x, int64_t count) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double size = Size(x[i]);
    if (!(size <= largest)) largest = size;
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += AbsoluteSquare(DivideByReal(x[i], largest));
  return largest * std::sqrt(sum);
}

template <class W>
void SwapRows(Matrix<W> a, int64_t i, int64_t k) {
  for (int64_t j = 0; j < a.columns; ++j) std::swap(a(i, j), a(k, j));
}
template <class W>
void SwapColumns(Matrix<W> a, int64_t j, int64_t k) {
  std::swap_ranges(a.Column(j), a.Column(j) + a.rows, a.Column(k));
}

/// x /= divisor; complex numbers by way of its reciprocal, as LAPACK does it too.
void DivideBy(double divisor, double* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] /= divisor;
}
void DivideBy(PlainComplex divisor, PlainComplex* x, int64_t count) {
  const PlainComplex reciprocal = PlainComplex(1, 0) / divisor;
  for (int64_t i = 0; i < count; ++i) x[i] = x[i] * reciprocal;
}

/// y -= factor * x
template <class W>
void Subtract(W factor, const W* x, W* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = y[i] - factor * x[i];
}

/// y += factor * x
template <class W>
void Add(W factor, const W* x, W* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = y[i] + factor * x[i];
}

}  // namespace

template <class W>
int64_t FactorCholesky(Matrix<W> a) {
  const int64_t n = a.rows;
  for (int64_t j = 0; j < n; ++j) {
    const double square = RealPart(a(j, j));
    if (!(square > 0)) return j + 1;
    const double pivot = std::sqrt(square);
    a(j, j) = FromReal<W>(pivot);
    for (int64_t i = j + 1; i < n; ++i) a(i, j) = DivideByReal(a(i, j), pivot);
    for (int64_t k = j + 1; k < n; ++k) Subtract(Conj(a(k, j)), &a(k, j), &a(k, k), n - k);
  }
  return 0;
}

template <class W>
int64_t FactorLu(Matrix<W> a, int* pivots) {
  int64_t singular = 0;
  for (int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < a.rows; ++i)
      if (Size(a(i, j)) > Size(a(pivot, j))) pivot = i;
    pivots[j] = static_cast<int>(pivot + 1);
    if (Size(a(pivot, j)) == 0) {
      if (singular == 0) singular = j + 1;
      continue;
    }
    if (pivot != j) SwapRows(a, j, pivot);
    DivideBy(a(j, j), &a(j, j) + 1, a.rows - j - 1);
    for (int64_t k = j + 1; k < a.columns; ++k)
      if (Size(a(j, k)) != 0) Subtract(a(j, k), &a(j, j) + 1, &a(j, k) + 1, a.rows - j - 1);
  }
  return singular;
}

template <class W>
W MakeReflector(W& alpha, W* x, int64_t count) {
  // Quotients of numbers with few digits are not accurate enough for a reflection, and dependent columns
  // become so small: they are computed larger, as LAPACK does.
  constexpr double kSmallest = 0x1p-969, kScale = 0x1p600;
  double norm = Norm(x, count), scale = 1;
  if (norm == 0 && ImagPart(alpha) == 0) return W{};
  if (std::hypot(Magnitude(alpha), norm) < kSmallest) {
    scale = kScale;
    alpha = alpha * scale;
    for (int64_t i = 0; i < count; ++i) x[i] = x[i] * scale;
    norm = Norm(x, count);
  }
  const double beta = -std::copysign(std::hypot(Magnitude(alpha), norm), RealPart(alpha));
  const W difference = alpha - FromReal<W>(beta);
  DivideBy(difference, x, count);
  const W tau = DivideByReal(W{} - difference, beta);
  alpha = FromReal<W>(beta / scale);
  return tau;
}

template <class W>
void ReflectRows(const W* tail, W tau, Matrix<W> c) {
  if (Size(tau) == 0) return;
  for (int64_t j = 0; j < c.columns; ++j) {
    W* column = c.Column(j);
    W sum = column[0];
    for (int64_t i = 1; i < c.rows; ++i) sum = sum + Conj(tail[i - 1]) * column[i];
    sum = sum * tau;
    column[0] = column[0] - sum;
    Subtract(sum, tail, column + 1, c.rows - 1);
  }
}

template <class W>
void ReflectColumns(const W* tail, W tau, Matrix<W> c) {
  if (Size(tau) == 0) return;
  std::vector<W> sums(c.Column(0), c.Column(0) + c.rows);
  for (int64_t j = 1; j < c.columns; ++j) Add(tail[j - 1], c.Column(j), sums.data(), c.rows);
  Subtract(tau, sums.data(), c.Column(0), c.rows);
  for (int64_t j = 1; j < c.columns; ++j) Subtract(tau * Conj(tail[j - 1]), sums.data(), c.Column(j), c.rows);
}

template <class W>
void FactorQr(Matrix<W> a, W* tau) {
  for (int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    tau[j] = MakeReflector(a(j, j), &a(j, j) + 1, a.rows - j - 1);
    ReflectRows(&a(j, j) + 1, Conj(tau[j]), a.From(j, j + 1));
  }
}

template <class W>
void FactorQrPivoted(Matrix<W> a, int* order, W* tau) {
  std::vector<int> columns(static_cast<size_t>(a.columns));
  std::iota(columns.begin(), columns.end(), 1);
  int64_t fixed = 0;
  for (int64_t j = 0; j < a.columns; ++j) {
    if (order[j] == 0) continue;
    SwapColumns(a, j, fixed);
    std::swap(columns[static_cast<size_t>(j)], columns[static_cast<size_t>(fixed)]);
    std::swap(order[j], order[fixed++]);
  }
  for (int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    int64_t best = j;
    double best_norm = Norm(&a(j, j), a.rows - j);
    for (int64_t k = j + 1; j >= fixed && k < a.columns; ++k) {
      const double norm = Norm(&a(j, k), a.rows - j);
      if (norm > best_norm) best = k, best_norm = norm;
    }
    if (best != j) {
      SwapColumns(a, j, best);
      std::swap(columns[static_cast<size_t>(j)], columns[static_cast<size_t>(best)]);
    }
    tau[j] = MakeReflector(a(j, j), &a(j, j) + 1, a.rows - j - 1);
    ReflectRows(&a(j, j) + 1, Conj(tau[j]), a.From(j, j + 1));
  }
  std::copy(columns.begin(), columns.end(), order);
}

template <class W>
void GenerateQ(Matrix<W> a, int64_t count, const W* tau) {
  for (int64_t j = count; j < a.columns; ++j) {
    std::fill_n(a.Column(j), a.rows, W{});
    a(j, j) = FromReal<W>(1);
  }
  for (int64_t j = count; j-- > 0;) {
    W* tail = &a(j, j) + 1;
    ReflectRows(tail, tau[j], a.From(j, j + 1));
    for (int64_t i = 0; i < a.rows - j - 1; ++i) tail[i] = W{} - tau[j] * tail[i];
    a(j, j) = FromReal<W>(1) - tau[j];
    std::fill_n(a.Column(j), j, W{});
  }
}

template <class W>
void MultiplyQ(Matrix<W> reflectors, int64_t count, const W* tau, bool left, bool adjoint, Matrix<W> c) {
  for (int64_t step = 0; step < count; ++step) {
    const int64_t j = left == adjoint ? step : count - 1 - step;
    const W* tail = &reflectors(j, j) + 1;
    const W factor = adjoint ? Conj(tau[j]) : tau[j];
    if (left)
      ReflectRows(tail, factor, c.From(j, 0));
    else
      ReflectColumns(tail, factor, c.From(0, j));
  }
}

template <class W>
int64_t SolveTridiagonal(int64_t n, W* dl, W* d, W* du, Matrix<W> b) {
  for (int64_t i = 0; i + 1 < n; ++i) {
    if (Size(dl[i]) == 0) {
      if (Size(d[i]) == 0) return i + 1;
      continue;
    }
    const bool exchange = Size(d[i]) < Size(dl[i]);
    if (exchange) {
      std::swap(d[i], dl[i]);
      std::swap(du[i], d[i + 1]);
      for (int64_t c = 0; c < b.columns; ++c) std::swap(b(i, c), b(i + 1, c));
    }
    const W factor = dl[i] / d[i];
    d[i + 1] = d[i + 1] - factor * du[i];
    for (int64_t c = 0; c < b.columns; ++c) b(i + 1, c) = b(i + 1, c) - factor * b(i, c);
    dl[i] = W{};
    if (exchange && i + 2 < n) {
      dl[i] = du[i + 1];
      du[i + 1] = W{} - factor * dl[i];
    }
  }
  if (n > 0 && Size(d[n - 1]) == 0) return n;
  for (int64_t c = 0; c < b.columns; ++c)
    for (int64_t i = n; i-- > 0;) {
      W rest = b(i, c);
      if (i + 1 < n) rest = rest - du[i] * b(i + 1, c);
      if (i + 2 < n) rest = rest - dl[i] * b(i + 2, c);
      b(i, c) = rest / d[i];
    }
  return 0;
}

namespace {

/// a := H^H a H for H = I - tau v v^H and the Hermitian matrix in one triangle of a.
template <class W>
void ReflectHermitian(Matrix<W> a, bool lower, const W* v, W tau) {
  const int64_t n = a.rows;
  std::vector<W> w(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    const int64_t begin = lower ? j + 1 : 0, end = lower ? n : j;
    W sum = v[j] * RealPart(a(j, j));
    for (int64_t i = begin; i < end; ++i) {
      w[static_cast<size_t>(i)] = w[static_cast<size_t>(i)] + a(i, j) * v[j];
      sum = sum + Conj(a(i, j)) * v[i];
    }
    w[static_cast<size_t>(j)] = w[static_cast<size_t>(j)] + sum;
  }
  W product{};
  for (int64_t i = 0; i < n; ++i) {
    w[static_cast<size_t>(i)] = w[static_cast<size_t>(i)] * tau;
    product = product + Conj(w[static_cast<size_t>(i)]) * v[i];
  }
  Subtract(product * tau * 0.5, v, w.data(), n);
  for (int64_t j = 0; j < n; ++j) {
    const W wj = Conj(w[static_cast<size_t>(j)]), vj = Conj(v[j]);
    const int64_t begin = lower ? j : 0, end = lower ? n : j + 1;
    for (int64_t i = begin; i < end; ++i) a(i, j) = a(i, j) - (v[i] * wj + w[static_cast<size_t>(i)] * vj);
    a(j, j) = FromReal<W>(RealPart(a(j, j)));
  }
}

}  // namespace

template <class W>
void ReduceToTridiagonal(Matrix<W> a, bool lower, double* d, double* e, W* tau) {
  const int64_t n = a.rows;
  std::vector<W> v(static_cast<size_t>(n));
  for (int64_t step = 0; step + 1 < n; ++step) {
    // Column j loses all but its element next to the diagonal; `rest` is what is still to be reduced.
    const int64_t j = lower ? step : n - 1 - step, rest = n - 1 - step;
    const int64_t at = lower ? j : j - 1, first = lower ? j + 1 : 0;
    W* column = &a(first, j);
    W& alpha = lower ? column[0] : column[rest - 1];
    tau[at] = MakeReflector(alpha, lower ? column + 1 : column, rest - 1);
    e[at] = RealPart(alpha);
    d[j] = RealPart(a(j, j));
    if (Size(tau[at]) == 0) continue;
    std::copy(column, column + rest, v.begin());
    v[static_cast<size_t>(lower ? 0 : rest - 1)] = FromReal<W>(1);
    ReflectHermitian(a.Part(first, first, rest, rest), lower, v.data(), tau[at]);
  }
  if (n > 0) d[lower ? n - 1 : 0] = RealPart(a(lower ? n - 1 : 0, lower ? n - 1 : 0));
}

template <class W>
void ReduceToHessenberg(Matrix<W> a, int64_t low, int64_t high, W* tau) {
  std::fill_n(tau, std::max<int64_t>(0, a.rows - 1), W{});
  for (int64_t j = low; j + 1 < high; ++j) {
    const int64_t count = high - j - 1;
    W* tail = &a(j + 1, j) + 1;
    tau[j] = MakeReflector(a(j + 1, j), tail, count - 1);
    ReflectColumns(tail, tau[j], a.Part(0, j + 1, high, count));
    ReflectRows(tail, Conj(tau[j]), a.Part(j + 1, j + 1, count, a.columns - j - 1));
  }
}

template <class W>
double ScaleToOne(Matrix<W> a) {
  double largest = 0;
  for (int64_t j = 0; j < a.columns; ++j)
    for (int64_t i = 0; i < a.rows; ++i) largest = std::max(largest, Size(a(i, j)));
  if (largest == 0 || !std::isfinite(largest)) return 1;
  const double scale = std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000));
  for (int64_t j = 0; j < a.columns; ++j)
    for (int64_t i = 0; i < a.rows; ++i) a(i, j) = a(i, j) * scale;
  return scale;
}

template <class W>
bool HasNonFinite(Matrix<W> a) {
  for (int64_t j = 0; j < a.columns; ++j)
    for (int64_t i = 0; i < a.rows; ++i)
      if (!std::isfinite(Size(a(i, j)))) return true;
  return false;
}

#define HLO_INSTANTIATE(W)                                                      \
  template int64_t FactorCholesky(Matrix<W>);                                   \
  template int64_t FactorLu(Matrix<W>, int*);                                   \
  template W MakeReflector(W&, W*, int64_t);                                    \
  template void ReflectRows(const W*, W, Matrix<W>);                            \
  template void ReflectColumns(const W*, W, Matrix<W>);                         \
  template void FactorQr(Matrix<W>, W*);                                        \
  template void FactorQrPivoted(Matrix<W>, int*, W*);                           \
  template void GenerateQ(Matrix<W>, int64_t, const W*);                        \
  template void MultiplyQ(Matrix<W>, int64_t, const W*, bool, bool, Matrix<W>); \
  template int64_t SolveTridiagonal(int64_t, W*, W*, W*, Matrix<W>);            \
  template void ReduceToTridiagonal(Matrix<W>, bool, double*, double*, W*);     \
  template void ReduceToHessenberg(Matrix<W>, int64_t, int64_t, W*);            \
  template double ScaleToOne(Matrix<W>);                                        \
  template bool HasNonFinite(Matrix<W>)
HLO_INSTANTIATE(double);
HLO_INSTANTIATE(PlainComplex);
#undef HLO_INSTANTIATE

}  // namespace hlo::dense
