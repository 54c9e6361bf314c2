// Decompositions of dense matrices in LAPACK's conventions, in double precision.
#pragma once
#include <cstdint>
#include <type_traits>
#include <vector>

#include "ir/numeric/working_number.h"

namespace hlo::dense {

template <class W>
W FromReal(double x) {
  if constexpr (std::is_same_v<W, double>)
    return x;
  else
    return {x, 0};
}

/// A column-major matrix that somebody else owns. W is double or PlainComplex throughout.
template <class W>
struct Matrix {
  W* data;
  int64_t rows, columns, stride;  // element (i, j) is data[i + j * stride]
  W& operator()(int64_t i, int64_t j) const { return data[i + j * stride]; }
  [[nodiscard]] W* Column(int64_t j) const { return data + j * stride; }
  /// Rows from `i` and columns from `j` on.
  [[nodiscard]] Matrix From(int64_t i, int64_t j) const {
    return {data + i + j * stride, rows - i, columns - j, stride};
  }
  [[nodiscard]] Matrix Part(int64_t i, int64_t j, int64_t row_count, int64_t column_count) const {
    return {data + i + j * stride, row_count, column_count, stride};
  }
};

/// A matrix with memory of its own, zero at first.
template <class W>
class OwnedMatrix {
 public:
  OwnedMatrix(int64_t rows, int64_t columns)
      : data_(static_cast<size_t>(rows * columns)), rows_(rows), columns_(columns) {}
  static OwnedMatrix Identity(int64_t n) {
    OwnedMatrix m(n, n);
    for (int64_t i = 0; i < n; ++i) m.view()(i, i) = FromReal<W>(1);
    return m;
  }
  [[nodiscard]] Matrix<W> view() { return {data_.data(), rows_, columns_, rows_}; }

 private:
  std::vector<W> data_;
  int64_t rows_, columns_;
};

// Factorisations (dense_factor.cc). Those that can fail return 0, or the 1-based place where they did.

/// a = L L^H in the lower triangle; the other one is left alone.
template <class W>
int64_t FactorCholesky(Matrix<W> a);
/// a = P L U with partial pivoting; pivots[i] is the 1-based row that row i was exchanged with.
template <class W>
int64_t FactorLu(Matrix<W> a, int* pivots);
/// a = Q R with Householder reflectors I - tau v v^H below the diagonal.
template <class W>
void FactorQr(Matrix<W> a, W* tau);
/// The same of a with its columns in order of what is left of their norms; order[j] is the 1-based column
/// that came to place j. Columns whose order is not 0 at first come first.
template <class W>
void FactorQrPivoted(Matrix<W> a, int* order, W* tau);
/// The first columns of the product of `count` reflectors, in place of them.
template <class W>
void GenerateQ(Matrix<W> a, int64_t count, const W* tau);
/// c := op(Q) c (left) or c op(Q), op being the adjoint or nothing.
template <class W>
void MultiplyQ(Matrix<W> reflectors, int64_t count, const W* tau, bool left, bool adjoint, Matrix<W> c);
/// Solves a tridiagonal system with pivoting. On return: d and du are the diagonal of U and the one above, dl
/// the second one above.
template <class W>
int64_t SolveTridiagonal(int64_t n, W* dl, W* d, W* du, Matrix<W> b);
/// Hermitian a = Q T Q^H with reflectors in one triangle; T has diagonal d and off-diagonal e.
template <class W>
void ReduceToTridiagonal(Matrix<W> a, bool lower, double* d, double* e, W* tau);
/// a = Q H Q^H with H upper Hessenberg, in rows and columns [low, high) only.
template <class W>
void ReduceToHessenberg(Matrix<W> a, int64_t low, int64_t high, W* tau);

// Decompositions by iteration (dense_eigen.cc, dense_schur.cc, dense_singular.cc).

/// Ascending eigenvalues of the Hermitian matrix in the lower triangle of a, with `vectors` its orthonormal
/// eigenvectors in place of it.
template <class W>
int64_t HermitianEigen(Matrix<W> a, double* values, bool vectors);
/// a = Z T Z^H; z is set. T replaces a: triangular, and for double with 2 x 2 blocks of equal diagonals for
/// pairs of complex eigenvalues.
template <class W>
int64_t Schur(Matrix<W> a, Matrix<W> z);
/// Eigenvalues and eigenvectors of length 1 with a real largest element; pairs of conjugates stand together,
/// positive imaginary part first, if W is double. Null: not wanted.
template <class W>
int64_t Eigen(Matrix<W> a, PlainComplex* values, Matrix<PlainComplex>* left, Matrix<PlainComplex>* right);
/// a = u diag(values) v^H with descending values; u has rows x rows or min elements, v columns x columns or
/// min. a is overwritten.
template <class W>
int64_t SingularValues(Matrix<W> a, double* values, Matrix<W> u, Matrix<W> v);

// Shared by them.

/// The reflector I - tau v v^H, v = (1, x), that turns (alpha, x) into (alpha, 0); returns tau.
template <class W>
W MakeReflector(W& alpha, W* x, int64_t count);
/// c := (I - tau v v^H) c, v = (1, tail).
template <class W>
void ReflectRows(const W* tail, W tau, Matrix<W> c);
/// c := c (I - tau v v^H).
template <class W>
void ReflectColumns(const W* tail, W tau, Matrix<W> c);
/// A power of two that brings the largest element near 1, by which all are multiplied.
template <class W>
double ScaleToOne(Matrix<W> a);
/// Whether there are infinities or NaN.
template <class W>
bool HasNonFinite(Matrix<W> a);

}  // namespace hlo::dense
