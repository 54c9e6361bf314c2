// Matrices on the host for libraries of the emulated GPU: column beside column, of complex numbers in double
// precision whatever the type of the array.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "backends/gpu/libraries/cublas_lt_api.h"
#include "testdata/gpu/stand_in.h"

namespace hlo::gpu {

using Complex = std::complex<double>;

struct Matrix {
  Matrix(int64_t m, int64_t n) : rows(m), columns(n), values(static_cast<size_t>(m * n)) {}
  int64_t rows, columns;
  std::vector<Complex> values;
  Complex& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(j * rows + i)]; }
  const Complex& operator()(int64_t i, int64_t j) const { return values[static_cast<size_t>(j * rows + i)]; }
};

inline bool IsComplexType(CudaType type) { return type == CudaType::C64 || type == CudaType::C128; }

template <class Real>
bool FetchNumbers(Matrix& x, const void* at, int64_t leading, bool is_complex, void* stream) {
  std::vector<Real> numbers;
  const int64_t each = is_complex ? 2 : 1;
  if (!Fetch(at, static_cast<size_t>(((x.columns - 1) * leading + x.rows) * each), numbers, stream))
    return false;
  for (int64_t j = 0; j < x.columns; ++j)
    for (int64_t i = 0; i < x.rows; ++i) {
      const Real* number = &numbers[static_cast<size_t>((j * leading + i) * each)];
      x(i, j) = is_complex ? Complex(number[0], number[1]) : Complex(number[0]);
    }
  return true;
}
inline bool FetchMatrix(Matrix& x, CudaType type, const void* at, int64_t leading, void* stream) {
  const bool wide = type == CudaType::F64 || type == CudaType::C128;
  if (x.values.empty()) return true;
  return wide ? FetchNumbers<double>(x, at, leading, IsComplexType(type), stream)
              : FetchNumbers<float>(x, at, leading, IsComplexType(type), stream);
}

template <class Real>
bool StoreNumbers(const Matrix& x, void* at, bool is_complex, void* stream) {
  std::vector<Real> numbers;
  for (const Complex& value : x.values) {
    numbers.push_back(static_cast<Real>(value.real()));
    if (is_complex) numbers.push_back(static_cast<Real>(value.imag()));
  }
  return Store(at, numbers, stream);
}
/// Columns follow each other.
inline bool StoreMatrix(const Matrix& x, CudaType type, void* at, void* stream) {
  const bool wide = type == CudaType::F64 || type == CudaType::C128;
  return wide ? StoreNumbers<double>(x, at, IsComplexType(type), stream)
              : StoreNumbers<float>(x, at, IsComplexType(type), stream);
}

/// The factor in place; the number of the first pivot that is not positive, or 0.
inline int Factor(Matrix& a, bool lower) {
  const int64_t n = a.rows;
  const auto at = [&](int64_t i, int64_t j) -> Complex& { return lower ? a(i, j) : a(j, i); };
  const auto value = [&](int64_t i, int64_t j) { return lower ? at(i, j) : std::conj(at(i, j)); };
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) {
      Complex sum = value(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= value(i, k) * std::conj(value(j, k));
      if (i == j && !(sum.real() > 0)) return static_cast<int>(j + 1);
      const Complex result = i == j ? Complex(std::sqrt(sum.real())) : sum / value(j, j).real();
      at(i, j) = lower ? result : std::conj(result);
    }
  return 0;
}

/// Reflectors below the diagonal, R above it.
inline std::vector<Complex> FactorQr(Matrix& a) {
  std::vector<Complex> taus;
  for (int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    double below = 0;
    for (int64_t i = j + 1; i < a.rows; ++i) below += std::norm(a(i, j));
    const Complex alpha = a(j, j);
    if (below == 0 && alpha.imag() == 0) {
      taus.emplace_back(0);
      continue;
    }
    const double length = std::sqrt(below + std::norm(alpha));
    const double beta = alpha.real() > 0 ? -length : length;
    const Complex tau = (beta - alpha) / beta;
    for (int64_t i = j + 1; i < a.rows; ++i) a(i, j) /= alpha - beta;
    a(j, j) = beta;
    for (int64_t c = j + 1; c < a.columns; ++c) {
      Complex sum = a(j, c);
      for (int64_t i = j + 1; i < a.rows; ++i) sum += std::conj(a(i, j)) * a(i, c);
      sum *= std::conj(tau);
      a(j, c) -= sum;
      for (int64_t i = j + 1; i < a.rows; ++i) a(i, c) -= a(i, j) * sum;
    }
    taus.push_back(tau);
  }
  return taus;
}

/// The first columns of the product of the reflectors.
inline Matrix ProductOfReflectors(const Matrix& v, const Matrix& taus) {
  Matrix q(v.rows, v.columns);
  for (int64_t j = 0; j < q.columns; ++j) q(j, j) = 1;
  for (int64_t r = taus.rows - 1; r >= 0; --r)
    for (int64_t c = 0; c < q.columns; ++c) {
      Complex sum = q(r, c);
      for (int64_t i = r + 1; i < q.rows; ++i) sum += std::conj(v(i, r)) * q(i, c);
      sum *= taus(r, 0);
      q(r, c) -= sum;
      for (int64_t i = r + 1; i < q.rows; ++i) q(i, c) -= v(i, r) * sum;
    }
  return q;
}

/// Columns of `a` are turned into orthogonal ones, two at a time (Jacobi); the turns are done to `v`, too.
inline void MakeOrthogonal(Matrix& a, Matrix& v) {
  constexpr int kSweeps = 60;
  constexpr double kSmall = 1e-30;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < a.columns; ++p)
      for (int64_t q = p + 1; q < a.columns; ++q) {
        double pp = 0, qq = 0;
        Complex pq = 0;
        for (int64_t i = 0; i < a.rows; ++i) {
          pp += std::norm(a(i, p));
          qq += std::norm(a(i, q));
          pq += std::conj(a(i, p)) * a(i, q);
        }
        if (std::norm(pq) <= kSmall * pp * qq || std::norm(pq) == 0) continue;
        turned = true;
        const Complex phase = pq / std::abs(pq);
        const double zeta = (qq - pp) / (2 * std::abs(pq));
        const double t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double cosine = 1 / std::sqrt(1 + t * t), sine = cosine * t;
        for (Matrix* x : {&a, &v})
          for (int64_t i = 0; i < x->rows; ++i) {
            const Complex xp = (*x)(i, p) * phase, xq = (*x)(i, q);
            (*x)(i, p) = cosine * xp - sine * xq;
            (*x)(i, q) = sine * xp + cosine * xq;
          }
      }
    if (!turned) return;
  }
}

struct Singular {
  Matrix u, vt;
  std::vector<double> values;  // decreasing
};
/// With as many columns of u as `left`: those behind the last singular value are any that are orthogonal.
inline Singular SingularValues(Matrix a, int64_t left) {
  Matrix v(a.columns, a.columns);
  for (int64_t i = 0; i < a.columns; ++i) v(i, i) = 1;
  MakeOrthogonal(a, v);
  std::vector<std::pair<double, int64_t>> order;
  for (int64_t j = 0; j < a.columns; ++j) {
    double norm = 0;
    for (int64_t i = 0; i < a.rows; ++i) norm += std::norm(a(i, j));
    order.emplace_back(-std::sqrt(norm), j);
  }
  std::sort(order.begin(), order.end());
  Singular found{Matrix(a.rows, left), Matrix(a.columns, a.columns), {}};
  for (int64_t j = 0; j < a.columns; ++j) {
    const auto& [negative, from] = order[static_cast<size_t>(j)];
    found.values.push_back(-negative);
    for (int64_t i = 0; i < a.rows && negative != 0; ++i) found.u(i, j) = a(i, from) / -negative;
    for (int64_t i = 0; i < a.columns; ++i) found.vt(j, i) = std::conj(v(i, from));
  }
  int64_t unit = 0;
  for (int64_t j = 0; j < left; ++j) {
    if (j < a.columns && found.values[static_cast<size_t>(j)] != 0) continue;
    for (double norm = 0; norm < 0.25 && unit < a.rows; ++unit) {
      for (int64_t i = 0; i < a.rows; ++i) found.u(i, j) = i == unit ? 1 : 0;
      for (int64_t c = 0; c < left; ++c) {
        if (c == j) continue;
        Complex along = 0;
        for (int64_t i = 0; i < a.rows; ++i) along += std::conj(found.u(i, c)) * found.u(i, j);
        for (int64_t i = 0; i < a.rows; ++i) found.u(i, j) -= along * found.u(i, c);
      }
      norm = 0;
      for (int64_t i = 0; i < a.rows; ++i) norm += std::norm(found.u(i, j));
      for (int64_t i = 0; i < a.rows; ++i) found.u(i, j) /= norm > 0 ? std::sqrt(norm) : 1;
    }
  }
  return found;
}

/// Eigenvalues of a Hermitian matrix, of which one triangle counts, increasing; its vectors in its place.
inline std::vector<double> Eigenvalues(Matrix& a, bool lower) {
  const int64_t n = a.rows;
  for (int64_t j = 0; j < n; ++j) {
    a(j, j) = a(j, j).real();
    for (int64_t i = j + 1; i < n; ++i) (lower ? a(j, i) : a(i, j)) = std::conj(lower ? a(i, j) : a(j, i));
  }
  // A shift makes it positive definite: eigenvectors are singular vectors then.
  double bound = 1;
  for (const Complex& value : a.values) bound += std::abs(value);
  for (int64_t j = 0; j < n; ++j) a(j, j) += bound;
  const Singular found = SingularValues(a, n);
  std::vector<double> values;
  for (int64_t j = 0; j < n; ++j) {
    values.push_back(found.values[static_cast<size_t>(n - 1 - j)] - bound);
    for (int64_t i = 0; i < n; ++i) a(i, j) = std::conj(found.vt(n - 1 - j, i));
  }
  return values;
}

}  // namespace hlo::gpu
