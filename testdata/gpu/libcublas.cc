// A library that is found as libcublas.so.13: triangular systems and transposed copies on the emulated GPU,
// on the host. It refuses what does not fit together, and fails for some sizes.
#include "backends/gpu/libraries/cublas_api.h"
#include "testdata/gpu/dense_matrices.h"

using namespace hlo::gpu;  // NOLINT(google-build-using-namespace): it stands in for C

namespace {

/// Systems with so many columns are such that functions fail.
enum Failing : int64_t { kNotSupportedAfterAll = 19, kFailing = 23 };

struct Handle {
  void* stream = nullptr;
};

/// x of op(A) x = b, in place of b.
void Solve(const Matrix& a, Matrix& b, CublasFill uplo, CublasTranspose trans, CublasDiagonal diagonal) {
  const auto at = [&](int64_t i, int64_t j) {
    return trans == CublasTranspose::No    ? a(i, j)
           : trans == CublasTranspose::Yes ? a(j, i)
                                           : std::conj(a(j, i));
  };
  const bool lower = (uplo == CublasFill::Lower) == (trans == CublasTranspose::No);
  for (int64_t c = 0; c < b.columns; ++c)
    for (int64_t step = 0; step < b.rows; ++step) {
      const int64_t i = lower ? step : b.rows - 1 - step;
      Complex sum = b(i, c);
      for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : b.rows); ++j) sum -= at(i, j) * b(j, c);
      b(i, c) = diagonal == CublasDiagonal::Unit ? sum : sum / at(i, i);
    }
}
Matrix Transposed(const Matrix& x) {
  Matrix y(x.columns, x.rows);
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.columns; ++j) y(j, i) = x(i, j);
  return y;
}

CublasStatus Trsm(CudaType type, CublasHandle handle, CublasSide side, CublasFill uplo, CublasTranspose trans,
                  CublasDiagonal diagonal, int64_t m, int64_t n, const void* a_at, int64_t lda, void* b_at,
                  int64_t ldb) {
  void* const stream = static_cast<Handle*>(handle)->stream;
  const bool left = side == CublasSide::Left;
  const int64_t edge = left ? m : n;
  if (lda < edge || ldb != m) return CublasStatus::InvalidValue;
  if (n == kNotSupportedAfterAll) return CublasStatus::NotSupported;
  if (n == kFailing) return CublasStatus::ExecutionFailed;
  Matrix a(edge, edge), b(m, n);
  if (!FetchMatrix(a, type, a_at, lda, stream) || !FetchMatrix(b, type, b_at, ldb, stream))
    return CublasStatus::ExecutionFailed;
  if (left) {
    Solve(a, b, uplo, trans, diagonal);
  } else {
    // x op(A) = b is op(A)' x' = b'.
    Matrix turned = Transposed(b);
    if (trans == CublasTranspose::Conjugate) {
      for (Complex& value : a.values) value = std::conj(value);
      Solve(a, turned, uplo, CublasTranspose::No, diagonal);
    } else {
      Solve(a, turned, uplo, trans == CublasTranspose::No ? CublasTranspose::Yes : CublasTranspose::No,
            diagonal);
    }
    b = Transposed(turned);
  }
  return StoreMatrix(b, type, b_at, stream) ? CublasStatus::Success : CublasStatus::ExecutionFailed;
}

CublasStatus Geam(CudaType type, CublasHandle handle, CublasTranspose a_trans, CublasTranspose b_trans,
                  int64_t m, int64_t n, const void* a_at, int64_t lda, const void* b_at, int64_t ldb,
                  void* c_at, int64_t ldc) {
  if (a_trans != CublasTranspose::Yes || b_trans != CublasTranspose::No || lda < n || b_at != c_at ||
      ldb != ldc || ldc != m)
    return CublasStatus::InvalidValue;
  void* const stream = static_cast<Handle*>(handle)->stream;
  Matrix a(n, m);
  if (!FetchMatrix(a, type, a_at, lda, stream)) return CublasStatus::ExecutionFailed;
  return StoreMatrix(Transposed(a), type, c_at, stream) ? CublasStatus::Success
                                                        : CublasStatus::ExecutionFailed;
}

}  // namespace

extern "C" {

void SetDriver(const LentDriver* lent) { driver = lent; }

CublasStatus cublasCreate_v2(CublasHandle* handle) {
  *handle = new Handle;
  return driver != nullptr ? CublasStatus::Success : CublasStatus::NotInitialized;
}
CublasStatus cublasDestroy_v2(CublasHandle handle) {
  delete static_cast<Handle*>(handle);
  return CublasStatus::Success;
}
CublasStatus cublasSetStream_v2(CublasHandle handle, void* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return CublasStatus::Success;
}

#define FUNCTIONS(letter, Type)                                                                             \
  CublasStatus cublas##letter##trsm_v2_64(CublasHandle handle, CublasSide side, CublasFill uplo,            \
                                          CublasTranspose trans, CublasDiagonal diag, int64_t m, int64_t n, \
                                          const void*, const void* a, int64_t lda, void* b, int64_t ldb) {  \
    return Trsm(CudaType::Type, handle, side, uplo, trans, diag, m, n, a, lda, b, ldb);                     \
  }                                                                                                         \
  CublasStatus cublas##letter##trsmBatched_64(                                                              \
      CublasHandle handle, CublasSide side, CublasFill uplo, CublasTranspose trans, CublasDiagonal diag,    \
      int64_t m, int64_t n, const void*, const void* a, int64_t lda, void* b, int64_t ldb, int64_t batch) { \
    std::vector<void*> as, bs;                                                                              \
    void* const stream = static_cast<Handle*>(handle)->stream;                                              \
    if (!Fetch(a, static_cast<size_t>(batch), as, stream) ||                                                \
        !Fetch(b, static_cast<size_t>(batch), bs, stream))                                                  \
      return CublasStatus::ExecutionFailed;                                                                 \
    for (size_t i = 0; i < as.size(); ++i)                                                                  \
      if (const auto status =                                                                               \
              Trsm(CudaType::Type, handle, side, uplo, trans, diag, m, n, as[i], lda, bs[i], ldb);          \
          status != CublasStatus::Success)                                                                  \
        return status;                                                                                      \
    return CublasStatus::Success;                                                                           \
  }                                                                                                         \
  CublasStatus cublas##letter##geam_64(CublasHandle handle, CublasTranspose a_trans,                        \
                                       CublasTranspose b_trans, int64_t m, int64_t n, const void*,          \
                                       const void* a, int64_t lda, const void*, const void* b, int64_t ldb, \
                                       void* c, int64_t ldc) {                                              \
    return Geam(CudaType::Type, handle, a_trans, b_trans, m, n, a, lda, b, ldb, c, ldc);                    \
  }
FUNCTIONS(S, F32)
FUNCTIONS(D, F64)
FUNCTIONS(C, C64)
FUNCTIONS(Z, C128)
#undef FUNCTIONS

}  // extern "C"
