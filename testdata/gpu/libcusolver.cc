// A library that is found as libcusolver.so.12: factors of matrices on the emulated GPU, on the host. It
// refuses what does not fit together, and fails for some sizes.
#include <limits>

#include "backends/gpu/libraries/cusolver_api.h"
#include "testdata/gpu/dense_matrices.h"

using namespace hlo::gpu;  // NOLINT(google-build-using-namespace): it stands in for C

namespace {

/// Matrices with so many columns are such that functions fail.
enum Failing : int64_t { kNotSupported = 19, kFailing = 23, kNotSupportedAfterAll = 29 };
constexpr size_t kWorkspace = 1000, kHostBytes = 72;

struct Handle {
  void* stream = nullptr;
};
constexpr uint64_t kParams = 0x9a4a;

CusolverStatus Measure(int64_t columns, size_t* workspace_bytes, size_t* host_bytes) {
  *workspace_bytes = kWorkspace;
  *host_bytes = kHostBytes;
  return columns == kNotSupported ? CusolverStatus::NotSupported : CusolverStatus::Success;
}
CusolverStatus MayRun(CusolverHandle handle, CusolverParams params, int64_t columns, int64_t leading,
                      int64_t rows, void* workspace, size_t workspace_bytes, const void* host,
                      size_t host_bytes) {
  if (reinterpret_cast<uint64_t>(params) != kParams || leading != rows) return CusolverStatus::InvalidValue;
  if (workspace == nullptr || workspace_bytes < kWorkspace || host == nullptr || host_bytes < kHostBytes)
    return CusolverStatus::InvalidWorkspace;
  if (columns == kFailing) return CusolverStatus::ExecutionFailed;
  if (columns == kNotSupportedAfterAll) return CusolverStatus::NotSupported;
  const bool stored =
      Store(workspace, std::vector<char>(workspace_bytes), static_cast<Handle*>(handle)->stream);
  return stored ? CusolverStatus::Success : CusolverStatus::ExecutionFailed;
}
CusolverStatus Done(bool done) { return done ? CusolverStatus::Success : CusolverStatus::ExecutionFailed; }

void* StreamOf(CusolverHandle handle) { return static_cast<Handle*>(handle)->stream; }
CudaType RealOf(CudaType type) {
  return type == CudaType::F64 || type == CudaType::C128 ? CudaType::F64 : CudaType::F32;
}
bool StoreReals(const std::vector<double>& values, CudaType type, void* at, void* stream) {
  Matrix column(static_cast<int64_t>(values.size()), 1);
  std::copy(values.begin(), values.end(), column.values.begin());
  return StoreMatrix(column, RealOf(type), at, stream);
}
bool StoreInfo(int value, int* at, void* stream) { return Store(at, std::vector<int>{value}, stream); }

/// `spoils`: the other triangle is written over, as by the call for many matrices.
CusolverStatus FactorOne(void* stream, CublasFill uplo, int64_t n, CudaType type, void* a, int* info,
                         bool spoils) {
  Matrix x(n, n);
  if (!FetchMatrix(x, type, a, n, stream)) return CusolverStatus::ExecutionFailed;
  const bool lower = uplo == CublasFill::Lower;
  const int failed = Factor(x, lower);
  for (int64_t i = 0; spoils && i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (lower ? i < j : i > j) x(i, j) = std::numeric_limits<double>::quiet_NaN();
  return Done(StoreMatrix(x, type, a, stream) && StoreInfo(failed, info, stream));
}

CusolverStatus EigenOne(void* stream, CublasFill uplo, int64_t n, CudaType type, void* a, void* w,
                        int* info) {
  Matrix x(n, n);
  if (!FetchMatrix(x, type, a, n, stream)) return CusolverStatus::ExecutionFailed;
  const std::vector<double> values = Eigenvalues(x, uplo == CublasFill::Lower);
  return Done(StoreMatrix(x, type, a, stream) && StoreReals(values, type, w, stream) &&
              StoreInfo(0, info, stream));
}
void* Behind(void* at, int64_t elements, CudaType type) {
  const int64_t bytes = (RealOf(type) == CudaType::F64 ? 8 : 4) * (IsComplexType(type) ? 2 : 1);
  return static_cast<char*>(at) + elements * bytes;
}

CusolverStatus PotrfBatched(CudaType type, CusolverHandle handle, CublasFill uplo, int n, void* a, int lda,
                            int* info, int batch) {
  if (lda != n || batch < 1) return CusolverStatus::InvalidValue;
  if (n == kFailing) return CusolverStatus::ExecutionFailed;
  std::vector<void*> matrices;
  if (!Fetch(a, static_cast<size_t>(batch), matrices, StreamOf(handle)))
    return CusolverStatus::ExecutionFailed;
  for (void* matrix : matrices)
    if (const auto status = FactorOne(StreamOf(handle), uplo, n, type, matrix, info++, /*spoils=*/true);
        status != CusolverStatus::Success)
      return status;
  return CusolverStatus::Success;
}

CusolverStatus Orgqr(CudaType type, CusolverHandle handle, int m, int n, int k, void* a, int lda,
                     const void* tau, void* workspace, int elements, int* info) {
  if (lda != m || n > m || k > n || workspace == nullptr || elements < 1) return CusolverStatus::InvalidValue;
  if (n == kFailing) return CusolverStatus::ExecutionFailed;
  Matrix v(m, n), taus(k, 1);
  void* const stream = StreamOf(handle);
  if (!FetchMatrix(v, type, a, m, stream) || !FetchMatrix(taus, type, tau, k, stream))
    return CusolverStatus::ExecutionFailed;
  return Done(StoreMatrix(ProductOfReflectors(v, taus), type, a, stream) && StoreInfo(0, info, stream));
}

}  // namespace

extern "C" {

void SetDriver(const LentDriver* lent) { driver = lent; }

CusolverStatus cusolverDnCreate(CusolverHandle* handle) {
  *handle = new Handle;
  return driver != nullptr ? CusolverStatus::Success : CusolverStatus::NotInitialized;
}
CusolverStatus cusolverDnDestroy(CusolverHandle handle) {
  delete static_cast<Handle*>(handle);
  return CusolverStatus::Success;
}
CusolverStatus cusolverDnSetStream(CusolverHandle handle, void* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return CusolverStatus::Success;
}
CusolverStatus cusolverDnCreateParams(CusolverParams* params) {
  *params = reinterpret_cast<void*>(kParams);  // NOLINT(performance-no-int-to-ptr): never looked through
  return CusolverStatus::Success;
}
CusolverStatus cusolverDnDestroyParams(CusolverParams) { return CusolverStatus::Success; }

CusolverStatus cusolverDnXpotrf_bufferSize(CusolverHandle, CusolverParams, CublasFill, int64_t n, CudaType,
                                           const void*, int64_t, CudaType, size_t* bytes,
                                           size_t* host_bytes) {
  return Measure(n, bytes, host_bytes);
}
CusolverStatus cusolverDnXpotrf(CusolverHandle handle, CusolverParams params, CublasFill uplo, int64_t n,
                                CudaType type, void* a, int64_t lda, CudaType, void* workspace, size_t bytes,
                                void* host, size_t host_bytes, int* info) {
  const auto may = MayRun(handle, params, n, lda, n, workspace, bytes, host, host_bytes);
  return may != CusolverStatus::Success
             ? may
             : FactorOne(StreamOf(handle), uplo, n, type, a, info, /*spoils=*/false);
}
CusolverStatus cusolverDnXgeqrf_bufferSize(CusolverHandle, CusolverParams, int64_t, int64_t n, CudaType,
                                           const void*, int64_t, CudaType, const void*, CudaType,
                                           size_t* bytes, size_t* host_bytes) {
  return Measure(n, bytes, host_bytes);
}
CusolverStatus cusolverDnXgeqrf(CusolverHandle handle, CusolverParams params, int64_t m, int64_t n,
                                CudaType type, void* a, int64_t lda, CudaType, void* tau, CudaType,
                                void* workspace, size_t bytes, void* host, size_t host_bytes, int* info) {
  const auto may = MayRun(handle, params, n, lda, m, workspace, bytes, host, host_bytes);
  if (may != CusolverStatus::Success) return may;
  void* const stream = StreamOf(handle);
  Matrix x(m, n), taus(std::min(m, n), 1);
  if (!FetchMatrix(x, type, a, m, stream)) return CusolverStatus::ExecutionFailed;
  taus.values = FactorQr(x);
  return Done(StoreMatrix(x, type, a, stream) && StoreMatrix(taus, type, tau, stream) &&
              StoreInfo(0, info, stream));
}
CusolverStatus cusolverDnXsyevd_bufferSize(CusolverHandle, CusolverParams, CusolverVectors, CublasFill,
                                           int64_t n, CudaType, const void*, int64_t, CudaType, const void*,
                                           CudaType, size_t* bytes, size_t* host_bytes) {
  return Measure(n, bytes, host_bytes);
}
CusolverStatus cusolverDnXsyevd(CusolverHandle handle, CusolverParams params, CusolverVectors,
                                CublasFill uplo, int64_t n, CudaType type, void* a, int64_t lda, CudaType,
                                void* w, CudaType, void* workspace, size_t bytes, void* host,
                                size_t host_bytes, int* info) {
  const auto may = MayRun(handle, params, n, lda, n, workspace, bytes, host, host_bytes);
  return may != CusolverStatus::Success ? may : EigenOne(StreamOf(handle), uplo, n, type, a, w, info);
}
CusolverStatus cusolverDnXsyevBatched_bufferSize(CusolverHandle, CusolverParams, CusolverVectors, CublasFill,
                                                 int64_t n, CudaType, const void*, int64_t, CudaType,
                                                 const void*, CudaType, size_t* bytes, size_t* host_bytes,
                                                 int64_t) {
  return Measure(n, bytes, host_bytes);
}
CusolverStatus cusolverDnXsyevBatched(CusolverHandle handle, CusolverParams params, CusolverVectors,
                                      CublasFill uplo, int64_t n, CudaType type, void* a, int64_t lda,
                                      CudaType, void* w, CudaType, void* workspace, size_t bytes, void* host,
                                      size_t host_bytes, int* info, int64_t batch) {
  const auto may = MayRun(handle, params, n, lda, n, workspace, bytes, host, host_bytes);
  if (may != CusolverStatus::Success) return may;
  for (int64_t b = 0; b < batch; ++b)
    if (const auto status = EigenOne(StreamOf(handle), uplo, n, type, Behind(a, b * n * n, type),
                                     Behind(w, b * n, RealOf(type)), info + b);
        status != CusolverStatus::Success)
      return status;
  return CusolverStatus::Success;
}
CusolverStatus cusolverDnXgesvd_bufferSize(CusolverHandle, CusolverParams, signed char, signed char,
                                           int64_t m, int64_t n, CudaType, const void*, int64_t, CudaType,
                                           const void*, CudaType, const void*, int64_t, CudaType, const void*,
                                           int64_t, CudaType, size_t* bytes, size_t* host_bytes) {
  return m < n ? CusolverStatus::InvalidValue : Measure(n, bytes, host_bytes);
}
CusolverStatus cusolverDnXgesvd(CusolverHandle handle, CusolverParams params, signed char job_u,
                                signed char job_vt, int64_t m, int64_t n, CudaType type, void* a, int64_t lda,
                                CudaType, void* s, CudaType, void* u, int64_t ldu, CudaType, void* vt,
                                int64_t ldvt, CudaType, void* workspace, size_t bytes, void* host,
                                size_t host_bytes, int* info) {
  const auto may = MayRun(handle, params, n, lda, m, workspace, bytes, host, host_bytes);
  if (may != CusolverStatus::Success) return may;
  if (m < n || job_u != job_vt) return CusolverStatus::InvalidValue;
  void* const stream = StreamOf(handle);
  Matrix x(m, n);
  if (!FetchMatrix(x, type, a, m, stream)) return CusolverStatus::ExecutionFailed;
  const Singular found = SingularValues(x, job_u == 'A' ? m : n);
  if (job_u != 'N' && (ldu != m || ldvt != n || !StoreMatrix(found.u, type, u, stream) ||
                       !StoreMatrix(found.vt, type, vt, stream)))
    return CusolverStatus::InvalidValue;
  // What was in the matrix is spoilt.
  return Done(StoreMatrix(Matrix(m, n), type, a, stream) && StoreReals(found.values, type, s, stream) &&
              StoreInfo(0, info, stream));
}

#define FUNCTIONS(letter, Type, orgqr)                                                                    \
  CusolverStatus cusolverDn##letter##potrfBatched(CusolverHandle handle, CublasFill uplo, int n, void* a, \
                                                  int lda, int* info, int batch) {                        \
    return PotrfBatched(CudaType::Type, handle, uplo, n, a, lda, info, batch);                            \
  }                                                                                                       \
  CusolverStatus cusolverDn##orgqr##_bufferSize(CusolverHandle, int, int, int, const void*, int,          \
                                                const void*, int* elements) {                             \
    *elements = 8;                                                                                        \
    return CusolverStatus::Success;                                                                       \
  }                                                                                                       \
  CusolverStatus cusolverDn##orgqr(CusolverHandle handle, int m, int n, int k, void* a, int lda,          \
                                   const void* tau, void* workspace, int elements, int* info) {           \
    return Orgqr(CudaType::Type, handle, m, n, k, a, lda, tau, workspace, elements, info);                \
  }
FUNCTIONS(S, F32, Sorgqr)
FUNCTIONS(D, F64, Dorgqr)
FUNCTIONS(C, C64, Cungqr)
FUNCTIONS(Z, C128, Zungqr)
#undef FUNCTIONS

}  // extern "C"
