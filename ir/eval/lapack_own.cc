// LAPACK routines of our own, computed in double precision by ir/numeric: for sizes where they are faster,
// and where no library is installed. Work space is neither needed nor touched but for its size in its first
// element.
#include <algorithm>

#include "ir/eval/lapack_library.h"
#include "ir/numeric/dense.h"
#include "ir/numeric/linalg.h"
#include "llvm/ADT/ArrayRef.h"

namespace hlo::lapack {
namespace {

template <class T>
using W = typename Working<T>::W;

/// A copy of an array in the type that is computed with.
template <class T>
class Loaded {
 public:
  Loaded(const T* data, int64_t rows, int64_t columns, int64_t stride) : matrix_(rows, columns) {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) view()(i, j) = Working<T>::Load(data[i + j * stride]);
  }
  Loaded(int64_t rows, int64_t columns) : matrix_(rows, columns) {}
  [[nodiscard]] dense::Matrix<W<T>> view() { return matrix_.view(); }
  [[nodiscard]] W<T>* data() { return view().data; }
  void Store(T* data, int64_t stride) {
    for (int64_t j = 0; j < view().columns; ++j)
      for (int64_t i = 0; i < view().rows; ++i) data[i + j * stride] = Working<T>::Store(view()(i, j));
  }
  void StoreAdjoint(T* data, int64_t stride) {
    for (int64_t j = 0; j < view().columns; ++j)
      for (int64_t i = 0; i < view().rows; ++i) data[j + i * stride] = Working<T>::Store(Conj(view()(i, j)));
  }

 private:
  dense::OwnedMatrix<W<T>> matrix_;
};

template <class R>
void StoreReals(const std::vector<double>& from, R* to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<R>(from[i]);
}

/// Whether the call only asks for the size of the work space.
template <class T>
bool AsksForWork(T* work, const int* lwork) {
  if (*lwork != -1) return false;
  work[0] = T(1);
  return true;
}

/// The Hermitian matrix of one triangle as a lower one: of itself, or of its conjugate if it is the upper
/// one.
template <class T>
Loaded<T> LoadTriangle(const T* a, int64_t n, int64_t stride, bool lower) {
  Loaded<T> l(n, n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i)
      l.view()(i, j) = Working<T>::Load(lower ? a[i + j * stride] : a[j + i * stride]);
  return l;
}

template <class T>
void Potrf(const char* uplo, const int* n, T* a, const int* lda, int* info) {
  const bool lower = *uplo == 'L';
  Loaded<T> l = LoadTriangle(a, *n, *lda, lower);
  *info = static_cast<int>(dense::FactorCholesky(l.view()));
  for (int64_t j = 0; j < *n; ++j)
    for (int64_t i = j; i < *n; ++i)
      a[lower ? i + j * *lda : j + i * *lda] = Working<T>::Store(l.view()(i, j));
}

template <class T>
void Getrf(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info) {
  Loaded<T> lu(a, *m, *n, *lda);
  *info = static_cast<int>(dense::FactorLu(lu.view(), pivots));
  lu.Store(a, *lda);
}

template <class T>
void Geqrf(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  Loaded<T> qr(a, *m, *n, *lda), factors(std::min(*m, *n), 1);
  dense::FactorQr(qr.view(), factors.data());
  qr.Store(a, *lda);
  factors.Store(tau, 1);
}

template <class T>
void Geqp3(const int* m, const int* n, T* a, const int* lda, int* order, T* tau, T* work, const int* lwork,
           int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  Loaded<T> qr(a, *m, *n, *lda), factors(std::min(*m, *n), 1);
  dense::FactorQrPivoted(qr.view(), order, factors.data());
  qr.Store(a, *lda);
  factors.Store(tau, 1);
}
template <class T>
void Geqp3(const int* m, const int* n, T* a, const int* lda, int* order, T* tau, T* work, const int* lwork,
           Real<T>*, int* info) {
  Geqp3<T>(m, n, a, lda, order, tau, work, lwork, info);
}

template <class T>
void Orgqr(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,
           const int* lwork, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  Loaded<T> q(a, *m, *n, *lda), factors(tau, *k, 1, *k);
  dense::GenerateQ(q.view(), *k, factors.data());
  q.Store(a, *lda);
}

template <class T>
void Ormqr(const char* side, const char* trans, const int* m, const int* n, const int* k, const T* a,
           const int* lda, const T* tau, T* c, const int* ldc, T* work, const int* lwork, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  const bool left = *side == 'L';
  Loaded<T> reflectors(a, left ? *m : *n, *k, *lda), factors(tau, *k, 1, *k), product(c, *m, *n, *ldc);
  dense::MultiplyQ(reflectors.view(), *k, factors.data(), left, *trans != 'N', product.view());
  product.Store(c, *ldc);
}

template <class T>
void Gemm(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const T* alpha,
          const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc) {
  const auto at = [](const T* matrix, int64_t stride, char trans, int64_t i, int64_t j) {
    const T x = trans == 'N' ? matrix[j * stride + i] : matrix[i * stride + j];
    if constexpr (kIsComplex<T>)
      return trans == 'C' ? std::conj(x) : x;
    else
      return x;
  };
  for (int64_t j = 0; j < *n; ++j)
    for (int64_t i = 0; i < *m; ++i) {
      T sum(0);
      for (int64_t l = 0; l < *k; ++l) sum += at(a, *lda, *trans_a, i, l) * at(b, *ldb, *trans_b, l, j);
      T& to = c[j * *ldc + i];
      to = *alpha * sum + (*beta == T(0) ? T(0) : *beta * to);
    }
}

/// alpha is 1, and rows of the arrays lie without gaps: nothing else is called.
template <class T>
void Trsm(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
          const T* /*alpha*/, const T* a, const int* /*lda*/, T* b, const int* /*ldb*/) {
  // Read row by row the arrays are their transposes, so that the sides change.
  TriangularSolveOptions options;
  options.left_side = *side == 'R';
  options.lower = *uplo == 'U';
  options.unit_diagonal = *diag == 'U';
  options.transpose = *trans != 'N';
  options.conjugate = *trans == 'C';
  const auto rows = static_cast<size_t>(*m), columns = static_cast<size_t>(*n);
  TriangularSolve<T>(1, options.left_side ? columns : rows, options.left_side ? rows : columns, options, a, b,
                     b);
}

template <class T>
void Gtsv(const int* n, const int* columns, T* dl, T* d, T* du, T* b, const int* ldb, int* info) {
  const int64_t beside = std::max(0, *n - 1);
  Loaded<T> below(dl, beside, 1, 1), diagonal(d, *n, 1, 1), above(du, beside, 1, 1), x(b, *n, *columns, *ldb);
  *info =
      static_cast<int>(dense::SolveTridiagonal(*n, below.data(), diagonal.data(), above.data(), x.view()));
  below.Store(dl, 1);
  diagonal.Store(d, 1);
  above.Store(du, 1);
  x.Store(b, *ldb);
}

/// mode: all vectors, those of the smaller side, or none.
template <class T>
void Singular(char mode, int64_t m, int64_t n, const T* a, int64_t lda, Real<T>* s, T* u, int64_t ldu, T* vt,
              int64_t ldvt, int* info) {
  Loaded<T> matrix(a, m, n, lda);
  if (dense::HasNonFinite(matrix.view())) {
    *info = -4;  // the argument that is wrong
    return;
  }
  const int64_t small = std::min(m, n);
  std::vector<double> values(static_cast<size_t>(small));
  Loaded<T> left(m, mode == 'A' ? m : small), right(n, mode == 'A' ? n : small);
  *info = static_cast<int>(dense::SingularValues(matrix.view(), values.data(), left.view(), right.view()));
  StoreReals(values, s);
  if (mode == 'N') return;
  left.Store(u, ldu);
  right.StoreAdjoint(vt, ldvt);
}

template <class T>
void Gesdd(const char* mode, const int* m, const int* n, T* a, const int* lda, Real<T>* s, T* u,
           const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* /*iwork*/, int* info) {
  *info = 0;
  if (!AsksForWork(work, lwork)) Singular(*mode, *m, *n, a, *lda, s, u, *ldu, vt, *ldvt, info);
}
template <class T>
void Gesdd(const char* mode, const int* m, const int* n, T* a, const int* lda, Real<T>* s, T* u,
           const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, Real<T>* /*rwork*/, int* iwork,
           int* info) {
  Gesdd<T>(mode, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, iwork, info);
}

/// Both modes are the same letter: nothing else is called.
template <class T>
void Gesvd(const char* mode, const char* /*mode_v*/, const int* m, const int* n, T* a, const int* lda,
           Real<T>* s, T* u, const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* info) {
  *info = 0;
  if (!AsksForWork(work, lwork)) Singular(*mode, *m, *n, a, *lda, s, u, *ldu, vt, *ldvt, info);
}
template <class T>
void Gesvd(const char* mode, const char* mode_v, const int* m, const int* n, T* a, const int* lda, Real<T>* s,
           T* u, const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, Real<T>* /*rwork*/,
           int* info) {
  Gesvd<T>(mode, mode_v, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, info);
}

template <class T>
void Hermitian(char mode, char uplo, int64_t n, T* a, int64_t lda, Real<T>* values, int* info) {
  const bool lower = uplo == 'L', vectors = mode == 'V';
  Loaded<T> matrix = LoadTriangle(a, n, lda, lower);
  std::vector<double> w(static_cast<size_t>(n));
  *info = static_cast<int>(dense::HermitianEigen(matrix.view(), w.data(), vectors));
  StoreReals(w, values);
  if (!vectors) return;
  // Eigenvectors of the conjugate matrix are conjugates.
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i)
      a[i + j * lda] = Working<T>::Store(lower ? matrix.view()(i, j) : Conj(matrix.view()(i, j)));
}

template <class T>
void Syevd(const char* mode, const char* uplo, const int* n, T* a, const int* lda, Real<T>* values, T* work,
           const int* lwork, int* iwork, const int* /*liwork*/, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork))
    iwork[0] = 1;
  else
    Hermitian(*mode, *uplo, *n, a, *lda, values, info);
}
template <class T>
void Syevd(const char* mode, const char* uplo, const int* n, T* a, const int* lda, Real<T>* values, T* work,
           const int* lwork, Real<T>* rwork, const int* /*lrwork*/, int* iwork, const int* liwork,
           int* info) {
  if (*lwork == -1) rwork[0] = 1;
  Syevd<T>(mode, uplo, n, a, lda, values, work, lwork, iwork, liwork, info);
}

/// Of a symmetric matrix with three diagonals; the mode is I: its vectors are wanted.
template <class T>
void Stedc(const char* /*mode*/, const int* n, Real<T>* d, Real<T>* e, T* z, const int* ldz, T* work,
           const int* lwork, int* iwork, const int* /*liwork*/, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) {
    iwork[0] = 1;
    return;
  }
  const int64_t stride = *ldz;
  for (int64_t j = 0; j < *n; ++j) {
    for (int64_t i = j; i < *n; ++i) z[j * stride + i] = T(i == j ? d[j] : i == j + 1 ? e[j] : Real<T>(0));
  }
  Hermitian('V', 'L', *n, z, *ldz, d, info);
}
template <class T>
void Stedc(const char* mode, const int* n, Real<T>* d, Real<T>* e, T* z, const int* ldz, T* work,
           const int* lwork, Real<T>* rwork, const int* /*lrwork*/, int* iwork, const int* liwork,
           int* info) {
  if (*lwork == -1) rwork[0] = 1;
  Stedc<T>(mode, n, d, e, z, ldz, work, lwork, iwork, liwork, info);
}

/// Eigenvalues and eigenvectors as complex numbers, those that are wanted.
template <class T>
struct Eigenpairs {
  std::vector<PlainComplex> values;
  dense::OwnedMatrix<PlainComplex> left, right;
  int info;
  Eigenpairs(bool want_left, bool want_right, int64_t n, const T* a, int64_t lda)
      : values(static_cast<size_t>(n)), left(n, n), right(n, n) {
    Loaded<T> matrix(a, n, n, lda);
    dense::Matrix<PlainComplex> l = left.view(), r = right.view();
    info = static_cast<int>(
        dense::Eigen(matrix.view(), values.data(), want_left ? &l : nullptr, want_right ? &r : nullptr));
  }
};

/// Real vectors as they are, pairs of conjugates as a column of real and one of imaginary parts.
template <class T>
void StorePacked(llvm::ArrayRef<PlainComplex> values, dense::Matrix<PlainComplex> vectors, T* out,
                 int64_t stride) {
  for (int64_t j = 0; j < vectors.columns; ++j) {
    const double height = values[static_cast<size_t>(j)].im;
    for (int64_t i = 0; i < vectors.rows; ++i)
      out[i + j * stride] = static_cast<T>(height < 0 ? -vectors(i, j).im : vectors(i, j).re);
  }
}

template <class T>
void Geev(const char* left, const char* right, const int* n, T* a, const int* lda, T* re, T* im, T* vl,
          const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  Eigenpairs<T> pairs(*left == 'V', *right == 'V', *n, a, *lda);
  *info = pairs.info;
  for (int64_t i = 0; i < *n; ++i) {
    re[i] = static_cast<T>(pairs.values[static_cast<size_t>(i)].re);
    im[i] = static_cast<T>(pairs.values[static_cast<size_t>(i)].im);
  }
  if (*left == 'V') StorePacked(pairs.values, pairs.left.view(), vl, *ldvl);
  if (*right == 'V') StorePacked(pairs.values, pairs.right.view(), vr, *ldvr);
}
template <class T>
void Geev(const char* left, const char* right, const int* n, T* a, const int* lda, T* values, T* vl,
          const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, Real<T>* /*rwork*/, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  Eigenpairs<T> pairs(*left == 'V', *right == 'V', *n, a, *lda);
  *info = pairs.info;
  const auto store = [&](dense::Matrix<PlainComplex> from, T* to, int64_t stride) {
    for (int64_t j = 0; j < from.columns; ++j)
      for (int64_t i = 0; i < from.rows; ++i) to[i + j * stride] = Working<T>::Store(from(i, j));
  };
  store({pairs.values.data(), *n, 1, *n}, values, *n);
  if (*left == 'V') store(pairs.left.view(), vl, *ldvl);
  if (*right == 'V') store(pairs.right.view(), vr, *ldvr);
}

/// The Schur form in place of a, and its vectors if they are wanted.
template <class T>
Loaded<T> SchurForm(char mode, int64_t n, T* a, int64_t lda, T* vs, int64_t ldvs, int* info) {
  Loaded<T> t(a, n, n, lda), z(n, n);
  *info = static_cast<int>(dense::Schur(t.view(), z.view()));
  t.Store(a, lda);
  if (mode == 'V') z.Store(vs, ldvs);
  return t;
}

template <class T>
void Gees(const char* mode, const char* /*sort*/, int (*)(), const int* n, T* a, const int* lda,
          int* selected, T* re, T* im, T* vs, const int* ldvs, T* work, const int* lwork, int* /*bwork*/,
          int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  *selected = 0;
  Loaded<T> form = SchurForm(*mode, *n, a, *lda, vs, *ldvs, info);
  const auto t = form.view();
  for (int64_t i = 0; i < *n; ++i) {
    re[i] = static_cast<T>(t(i, i));
    im[i] = 0;
    if (i == 0 || t(i, i - 1) == 0) continue;
    const double height = std::sqrt(std::fabs(t(i - 1, i))) * std::sqrt(std::fabs(t(i, i - 1)));
    im[i - 1] = static_cast<T>(height);
    im[i] = static_cast<T>(-height);
  }
}
template <class T>
void Gees(const char* mode, const char* /*sort*/, int (*)(), const int* n, T* a, const int* lda,
          int* selected, T* values, T* vs, const int* ldvs, T* work, const int* lwork, Real<T>* /*rwork*/,
          int* /*bwork*/, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  *selected = 0;
  Loaded<T> form = SchurForm(*mode, *n, a, *lda, vs, *ldvs, info);
  for (int64_t i = 0; i < *n; ++i) values[i] = Working<T>::Store(form.view()(i, i));
}

template <class T>
void Gehrd(const int* n, const int* low, const int* high, T* a, const int* lda, T* tau, T* work,
           const int* lwork, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  Loaded<T> matrix(a, *n, *n, *lda), factors(std::max(0, *n - 1), 1);
  dense::ReduceToHessenberg(matrix.view(), *low - 1, *high, factors.data());
  matrix.Store(a, *lda);
  factors.Store(tau, 1);
}

/// From the eigenvalues and vectors of the two parts of a tridiagonal matrix to its own: `beside` is what
/// couples the parts, whose magnitude was taken off the two numbers beside it, the first part has `cut` rows.
/// Ascending.
template <class T>
void Laed1(const int* n, Real<T>* d, Real<T>* q, const int* ldq, int* order, Real<T>* beside, const int* cut,
           Real<T>* /*work*/, int* /*iwork*/, int* info) {
  using R = Real<T>;
  const auto rows = static_cast<size_t>(*n), first = static_cast<size_t>(*cut),
             stride = static_cast<size_t>(*ldq);
  std::vector<R> coupling(rows), sum(rows * rows), product(rows * rows);
  for (size_t j = 0; j < rows; ++j)
    coupling[j] =
        j < first ? q[j * stride + first - 1] : std::copysign(R(1), *beside) * q[j * stride + first];
  for (size_t j = 0; j < rows; ++j) {
    order[j] = static_cast<int>(j) + 1;
    for (size_t i = 0; i < rows; ++i)
      sum[j * rows + i] = (i == j ? d[j] : R(0)) + std::abs(*beside) * coupling[i] * coupling[j];
  }
  Hermitian('V', 'L', *n, sum.data(), *n, d, info);
  for (size_t j = 0; j < rows; ++j)
    for (size_t k = 0; k < rows; ++k)
      for (size_t i = 0; i < rows; ++i) product[j * rows + i] += q[k * stride + i] * sum[j * rows + k];
  for (size_t j = 0; j < rows; ++j) std::copy_n(&product[j * rows], rows, q + j * stride);
}

template <class T>
void Sytrd(const char* uplo, const int* n, T* a, const int* lda, Real<T>* d, Real<T>* e, T* tau, T* work,
           const int* lwork, int* info) {
  *info = 0;
  if (AsksForWork(work, lwork)) return;
  const int64_t beside = std::max(0, *n - 1);
  Loaded<T> matrix(a, *n, *n, *lda), factors(beside, 1);
  std::vector<double> diagonal(static_cast<size_t>(*n)), off_diagonal(static_cast<size_t>(beside));
  dense::ReduceToTridiagonal(matrix.view(), *uplo == 'L', diagonal.data(), off_diagonal.data(),
                             factors.data());
  matrix.Store(a, *lda);
  factors.Store(tau, 1);
  StoreReals(diagonal, d);
  StoreReals(off_diagonal, e);
}

}  // namespace

template <class T>
void* OwnRoutine(Routine routine) {
  static void* const routines[] = {
#define LAPACK_ROUTINE(Id, ...) reinterpret_cast<void*>(static_cast<Function<Routine::Id, T>*>(&Id<T>)),
#include "ir/eval/lapack_routines.def"
  };
  return routines[static_cast<size_t>(routine)];
}
template void* OwnRoutine<float>(Routine);
template void* OwnRoutine<double>(Routine);
template void* OwnRoutine<std::complex<float>>(Routine);
template void* OwnRoutine<std::complex<double>>(Routine);

}  // namespace hlo::lapack
