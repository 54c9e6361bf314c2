// Cholesky factorisation and triangular solves of dense row-major matrices.
#pragma once
#include <cstddef>

namespace hlo {

// T is float, double, complex<float> or complex<double>; all work is done in double precision.
// Matrices of a batch follow each other without gaps. `out` may be the same array as the input it
// has the shape of.

/// Factors `batch` Hermitian n x n matrices as L L^H (lower) or U^H U (ops-structured §6.2). Reads only
/// the named triangle and the real parts of its diagonal; the other triangle of the result is zero. A
/// matrix that is not positive definite gives a matrix of NaN.
template <class T>
void Cholesky(size_t batch, size_t n, bool lower, const T* a, T* out);

struct TriangularSolveOptions {
  bool left_side = false;
  bool lower = false;          // which triangle of a, before op, is read
  bool unit_diagonal = false;  // the diagonal counts as 1 and is not read
  bool transpose = false;      // op(a) = a^T
  bool conjugate = false;      // with transpose: op(a) = a^H
};

/// Solves op(a) x = b for x (left_side; b is m x n) or x op(a) = b (b is n x m), a being m x m, by
/// substitution (§6.3): a zero on the diagonal gives infinities or NaN. Unit-triangular systems of at
/// most 32 unknowns in double precision go through the inverse, as in XLA.
template <class T>
void TriangularSolve(size_t batch, size_t m, size_t n, const TriangularSolveOptions& options, const T* a,
                     const T* b, T* out);

}  // namespace hlo
