// Our declarations of cuSOLVER and cuBLAS against those of CUDA, where its headers are, and against the
// libraries, where they are.
#include "backends/gpu/libraries/abi.h"
#include "backends/gpu/libraries/cusolver.h"
#include "backends/gpu/libraries/load.h"
#include "gtest/gtest.h"

#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>

namespace hlo::gpu {
namespace {

using S = CusolverStatus;
static_assert(kSame<S::Success, CUSOLVER_STATUS_SUCCESS>);
static_assert(kSame<S::NotInitialized, CUSOLVER_STATUS_NOT_INITIALIZED>);
static_assert(kSame<S::AllocFailed, CUSOLVER_STATUS_ALLOC_FAILED>);
static_assert(kSame<S::InvalidValue, CUSOLVER_STATUS_INVALID_VALUE>);
static_assert(kSame<S::ArchMismatch, CUSOLVER_STATUS_ARCH_MISMATCH>);
static_assert(kSame<S::MappingError, CUSOLVER_STATUS_MAPPING_ERROR>);
static_assert(kSame<S::ExecutionFailed, CUSOLVER_STATUS_EXECUTION_FAILED>);
static_assert(kSame<S::InternalError, CUSOLVER_STATUS_INTERNAL_ERROR>);
static_assert(kSame<S::MatrixTypeNotSupported, CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED>);
static_assert(kSame<S::NotSupported, CUSOLVER_STATUS_NOT_SUPPORTED>);
static_assert(kSame<S::InvalidWorkspace, CUSOLVER_STATUS_INVALID_WORKSPACE>);
static_assert(kSame<CusolverVectors::No, CUSOLVER_EIG_MODE_NOVECTOR>);
static_assert(kSame<CusolverVectors::Yes, CUSOLVER_EIG_MODE_VECTOR>);
static_assert(kSame<CublasSide::Left, CUBLAS_SIDE_LEFT> && kSame<CublasSide::Right, CUBLAS_SIDE_RIGHT>);
static_assert(kSame<CublasFill::Lower, CUBLAS_FILL_MODE_LOWER> &&
              kSame<CublasFill::Upper, CUBLAS_FILL_MODE_UPPER>);
static_assert(kSame<CublasDiagonal::NonUnit, CUBLAS_DIAG_NON_UNIT>);
static_assert(kSame<CublasDiagonal::Unit, CUBLAS_DIAG_UNIT>);
static_assert(kSame<CublasTranspose::Conjugate, CUBLAS_OP_C>);
static_assert(kSame<CudaType::C64, CUDA_C_32F> && kSame<CudaType::C128, CUDA_C_64F>);

#define CUSOLVER_FUNCTION(name, symbol, parameters) \
  static_assert(IsAlike(decltype(CusolverApi::name)(nullptr), decltype (&::symbol)(nullptr)));
#include "backends/gpu/libraries/cusolver_functions.def"
#define CUBLAS_FUNCTION(name, symbol, parameters) \
  static_assert(IsAlike(decltype(CublasApi::name)(nullptr), decltype (&::symbol)(nullptr)));
#include "backends/gpu/libraries/cublas_functions.def"

}  // namespace
}  // namespace hlo::gpu

TEST(CusolverAbi, IsThatOfCuda) {}
#else
TEST(CusolverAbi, IsThatOfCuda) { GTEST_SKIP() << "cusolverDn.h is not installed"; }
#endif

TEST(CusolverLibrary, HasTheFunctions) {
  const auto library = hlo::gpu::OpenLibrary({"libcusolver.so.12", "libcusolver.so.11"}, {});
  if (!library) GTEST_SKIP() << library.error().message;
  const auto api = hlo::gpu::ReadCusolver(*library);
  EXPECT_TRUE(api) << api.error().message;
}

TEST(CublasLibrary, HasTheFunctions) {
  const auto library = hlo::gpu::OpenLibrary({"libcublas.so.13", "libcublas.so.12"}, {});
  if (!library) GTEST_SKIP() << library.error().message;
  const auto api = hlo::gpu::ReadCublas(*library);
  EXPECT_TRUE(api) << api.error().message;
}
