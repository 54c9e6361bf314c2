// Blocked Cholesky factorisation and forward substitution in double precision.
#include "ir/numeric/linalg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "ir/numeric/working_number.h"

namespace hlo {
namespace {

constexpr size_t kBlock = 64;

/// sum over k of a[k] conj(b[k]), in several partial sums.
template <class W>
W DotConj(const W* a, const W* b, size_t n) {
  constexpr size_t kSums = 8;
  std::array<W, kSums> sums{};
  size_t k = 0;
  for (; k + kSums <= n; k += kSums)
    for (size_t i = 0; i < kSums; ++i) sums[i] = sums[i] + a[k + i] * Conj(b[k + i]);
  W total{};
  for (; k < n; ++k) total = total + a[k] * Conj(b[k]);
  for (const W& s : sums) total = total + s;
  return total;
}

/// Replaces the lower triangle of the Hermitian matrix in `l` by its factor; false if it is not
/// positive definite. Column blocks bound the memory that one row sweeps over.
template <class T>
bool FactorLower(std::vector<typename Working<T>::W>& l, size_t n) {
  using W = typename Working<T>::W;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = std::min(n, begin + kBlock);
    for (size_t i = begin; i < n; ++i) {
      W* row = &l[i * n];
      for (size_t j = begin; j < std::min(end, i + 1); ++j) {
        const W* pivot_row = &l[j * n];
        const W rest = row[j] - DotConj(row, pivot_row, j);
        if (j < i) {
          const double pivot = RealPart(pivot_row[j]);
          row[j] = DivideByReal(rest, pivot);
          continue;
        }
        const double square = RealPart(rest);
        if (!(square > 0)) return false;
        row[j] = Working<T>::FromReal(std::sqrt(square));
      }
    }
  }
  return true;
}

/// x := l^-1 x for a lower triangular m x m matrix l and m rows of n values in x.
template <class W>
void ForwardSubstitute(const std::vector<W>& l, size_t m, bool unit_diagonal, std::vector<W>& x, size_t n) {
  constexpr size_t kColumns = 256;
  for (size_t column = 0; column < n; column += kColumns) {
    const size_t width = std::min(kColumns, n - column);
    for (size_t begin = 0; begin < m; begin += kBlock) {
      const size_t end = std::min(m, begin + kBlock);
      // Rows above this block first, in blocks that stay in cache; then the block itself.
      for (size_t above = 0; above <= begin; above += kBlock) {
        for (size_t i = begin; i < end; ++i) {
          W* to = &x[i * n + column];
          const size_t stop = above == begin ? i : above + kBlock;
          for (size_t j = above; j < stop; ++j) {
            const W factor = l[i * m + j];
            const W* from = &x[j * n + column];
            for (size_t c = 0; c < width; ++c) to[c] = to[c] - factor * from[c];
          }
          if (above != begin || unit_diagonal) continue;
          const W pivot = l[i * m + i];
          for (size_t c = 0; c < width; ++c) to[c] = to[c] / pivot;
        }
      }
    }
  }
}

/// Accumulates real and imaginary sums of products separately.
struct SplitSum {
  double rr = 0, ii = 0, ri = 0, ir = 0;
  void Add(double a, double b) { rr += a * b; }
  void Add(PlainComplex a, PlainComplex b) {
    rr += a.re * b.re;
    ii += a.im * b.im;
    ri += a.re * b.im;
    ir += a.im * b.re;
  }
  void Get(double& x) const { x = rr; }
  void Get(PlainComplex& x) const { x = {rr - ii, ri + ir}; }
};

/// Small unit-triangular systems in double precision: x = op(a)^-1 b through the inverse of a, all sums
/// in ascending order. Results are compared nearly bit by bit, and XLA works in this order.
template <class T>
void SolveByInverse(size_t m, size_t n, const TriangularSolveOptions& options, const T* a, const T* b,
                    T* out) {
  using Tr = Working<T>;
  using W = typename Tr::W;
  std::vector<W> inverse(m * m);
  for (size_t step = 0; step < m; ++step) {
    const size_t i = options.lower ? step : m - 1 - step;
    inverse[i * m + i] = Tr::FromReal(1);
    for (size_t c = options.lower ? 0 : i + 1; c < (options.lower ? i : m); ++c) {
      W sum{};
      for (size_t k = options.lower ? c : i + 1; k < (options.lower ? i : c + 1); ++k) {
        const W factor = Tr::Load(a[i * m + k]);
        sum = sum + (options.conjugate ? Conj(factor) : factor) * inverse[k * m + c];
      }
      inverse[i * m + c] = W{} - sum;
    }
  }
  std::vector<W> x(m * n);
  const bool by_rows = options.transpose != options.left_side;  // whether sums run along rows of the inverse
  const bool ascending = options.lower == by_rows;              // whether they end at the diagonal
  for (size_t i = 0; i < m; ++i) {
    for (size_t c = 0; c < n; ++c) {
      SplitSum sum;
      for (size_t k = ascending ? 0 : i; k < (ascending ? i + 1 : m); ++k)
        sum.Add(inverse[by_rows ? i * m + k : k * m + i],
                Tr::Load(b[options.left_side ? k * n + c : c * m + k]));
      sum.Get(x[options.left_side ? i * n + c : c * m + i]);
    }
  }
  for (size_t i = 0; i < m * n; ++i) out[i] = Tr::Store(x[i]);
}

}  // namespace

template <class T>
void Cholesky(size_t batch, size_t n, bool lower, const T* a, T* out) {
  using Tr = Working<T>;
  using W = typename Tr::W;
  std::vector<W> l(n * n);
  for (size_t b = 0; b < batch; ++b, a += n * n, out += n * n) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < i; ++j)
        l[i * n + j] = lower ? Tr::Load(a[i * n + j]) : Conj(Tr::Load(a[j * n + i]));
      l[i * n + i] = Tr::FromReal(RealPart(Tr::Load(a[i * n + i])));
    }
    if (!FactorLower<T>(l, n)) {
      std::fill(out, out + n * n, Tr::Store(Tr::Nan()));
      continue;
    }
    std::fill(out, out + n * n, T{});
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j <= i; ++j) {
        if (lower)
          out[i * n + j] = Tr::Store(l[i * n + j]);
        else
          out[j * n + i] = Tr::Store(Conj(l[i * n + j]));
      }
  }
}

template <class T>
void TriangularSolve(size_t batch, size_t m, size_t n, const TriangularSolveOptions& options, const T* a,
                     const T* b, T* out) {
  using Tr = Working<T>;
  using W = typename Tr::W;
  constexpr bool kDouble = sizeof(T) == sizeof(W);
  constexpr size_t kSmall = 32;
  if (kDouble && options.unit_diagonal && m <= kSmall) {
    for (size_t k = 0; k < batch; ++k, a += m * m, b += m * n, out += m * n)
      SolveByInverse(m, n, options, a, b, out);
    return;
  }
  // Everything becomes l x = b with l lower: x op(a) = b is op(a)^T x^T = b^T, and an upper matrix is a
  // lower one in reversed order.
  const bool transposed = options.transpose == options.left_side;
  const bool reversed = options.lower == transposed;
  const auto at = [&](size_t i) { return reversed ? m - 1 - i : i; };
  std::vector<W> l(m * m);
  std::vector<W> x(m * n);
  for (size_t k = 0; k < batch; ++k, a += m * m, b += m * n, out += m * n) {
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < i + (options.unit_diagonal ? 0 : 1); ++j) {
        const W value = Tr::Load(transposed ? a[at(j) * m + at(i)] : a[at(i) * m + at(j)]);
        l[i * m + j] = options.conjugate ? Conj(value) : value;
      }
    }
    const auto place = [&](size_t i, size_t c) { return options.left_side ? at(i) * n + c : c * m + at(i); };
    for (size_t i = 0; i < m; ++i)
      for (size_t c = 0; c < n; ++c) x[i * n + c] = Tr::Load(b[place(i, c)]);
    ForwardSubstitute(l, m, options.unit_diagonal, x, n);
    for (size_t i = 0; i < m; ++i)
      for (size_t c = 0; c < n; ++c) out[place(i, c)] = Tr::Store(x[i * n + c]);
  }
}

#define HLO_INSTANTIATE(T)                                    \
  template void Cholesky(size_t, size_t, bool, const T*, T*); \
  template void TriangularSolve(size_t, size_t, size_t, const TriangularSolveOptions&, const T*, const T*, T*)
HLO_INSTANTIATE(float);
HLO_INSTANTIATE(double);
HLO_INSTANTIATE(std::complex<float>);
HLO_INSTANTIATE(std::complex<double>);
#undef HLO_INSTANTIATE

}  // namespace hlo
