// Our declarations of cuBLASLt against those of CUDA, where its headers are, and against the library, where
// it is.
#include "backends/gpu/libraries/abi.h"
#include "backends/gpu/libraries/cublas_lt.h"
#include "backends/gpu/libraries/product.h"
#include "gtest/gtest.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

namespace hlo::gpu {
namespace {

#define CUBLAS_STATUS(Kind, code, name, text) static_assert(static_cast<int>(CublasStatus::Kind) == code);
#include "backends/gpu/libraries/cublas_statuses.def"

using S = CublasStatus;
static_assert(kSame<S::Success, CUBLAS_STATUS_SUCCESS>);
static_assert(kSame<S::NotInitialized, CUBLAS_STATUS_NOT_INITIALIZED>);
static_assert(kSame<S::AllocFailed, CUBLAS_STATUS_ALLOC_FAILED>);
static_assert(kSame<S::InvalidValue, CUBLAS_STATUS_INVALID_VALUE>);
static_assert(kSame<S::ArchMismatch, CUBLAS_STATUS_ARCH_MISMATCH>);
static_assert(kSame<S::MappingError, CUBLAS_STATUS_MAPPING_ERROR>);
static_assert(kSame<S::ExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED>);
static_assert(kSame<S::InternalError, CUBLAS_STATUS_INTERNAL_ERROR>);
static_assert(kSame<S::NotSupported, CUBLAS_STATUS_NOT_SUPPORTED>);
static_assert(kSame<S::LicenseError, CUBLAS_STATUS_LICENSE_ERROR>);

static_assert(kSame<CublasCompute::F32, CUBLAS_COMPUTE_32F>);
static_assert(kSame<CublasCompute::F64, CUBLAS_COMPUTE_64F>);
static_assert(kSame<CublasCompute::S32, CUBLAS_COMPUTE_32I>);
static_assert(kSame<CublasCompute::FastTF32, CUBLAS_COMPUTE_32F_FAST_TF32>);
static_assert(kSame<CudaType::F16, CUDA_R_16F>);
static_assert(kSame<CudaType::BF16, CUDA_R_16BF>);
static_assert(kSame<CudaType::F32, CUDA_R_32F>);
static_assert(kSame<CudaType::F64, CUDA_R_64F>);
static_assert(kSame<CudaType::S8, CUDA_R_8I>);
static_assert(kSame<CudaType::S32, CUDA_R_32I>);
static_assert(kSame<CublasTranspose::No, CUBLAS_OP_N>);
static_assert(kSame<CublasTranspose::Yes, CUBLAS_OP_T>);
static_assert(kSame<CublasEpilogue::None, CUBLASLT_EPILOGUE_DEFAULT>);
static_assert(kSame<CublasEpilogue::Relu, CUBLASLT_EPILOGUE_RELU>);
static_assert(kSame<CublasEpilogue::Bias, CUBLASLT_EPILOGUE_BIAS>);
static_assert(kSame<CublasEpilogue::ReluBias, CUBLASLT_EPILOGUE_RELU_BIAS>);
static_assert(kSame<CublasLayoutAttribute::BatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT>);
static_assert(kSame<CublasLayoutAttribute::BatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET>);
static_assert(kSame<CublasDescAttribute::TransposeA, CUBLASLT_MATMUL_DESC_TRANSA>);
static_assert(kSame<CublasDescAttribute::TransposeB, CUBLASLT_MATMUL_DESC_TRANSB>);
static_assert(kSame<CublasDescAttribute::Epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE>);
static_assert(kSame<CublasDescAttribute::BiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER>);
using P = CublasSearchAttribute;
static_assert(kSame<P::WorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES>);
static_assert(kSame<P::AlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES>);
static_assert(kSame<P::AlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES>);
static_assert(kSame<P::AlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES>);
static_assert(kSame<P::AlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES>);

static_assert(sizeof(CublasAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(CublasHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(CublasHeuristic, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(CublasHeuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

#define CUBLAS_LT_FUNCTION(name, symbol, parameters) \
  static_assert(IsAlike(decltype(CublasLtApi::name)(nullptr), decltype (&::symbol)(nullptr)));
#include "backends/gpu/libraries/cublas_lt_functions.def"

}  // namespace
}  // namespace hlo::gpu

TEST(CublasLtAbi, IsThatOfCuda) {}
#else
TEST(CublasLtAbi, IsThatOfCuda) { GTEST_SKIP() << "cublasLt.h is not installed"; }
#endif

namespace hlo::gpu {
namespace {

// Descriptions need no GPU: attributes have the sizes that the library expects.
TEST(CublasLtLibrary, TakesDescriptions) {
  const auto library = OpenLibrary({"libcublasLt.so.13", "libcublasLt.so.12"}, {});
  if (!library) GTEST_SKIP() << library.error().message;
  const auto api = ReadCublasLt(*library);
  ASSERT_TRUE(api) << api.error().message;
  const auto set = [](auto* function, auto object, auto attribute, const auto& value) {
    EXPECT_EQ(function(object, attribute, &value, sizeof value), CublasStatus::Success);
  };
  CublasDesc desc = nullptr;
  ASSERT_EQ(api->MatmulDescCreate(&desc, CublasCompute::F32, CudaType::F32), CublasStatus::Success);
  set(api->MatmulDescSetAttribute, desc, CublasDescAttribute::TransposeA, CublasTranspose::Yes);
  set(api->MatmulDescSetAttribute, desc, CublasDescAttribute::TransposeB, CublasTranspose::No);
  set(api->MatmulDescSetAttribute, desc, CublasDescAttribute::Epilogue, CublasEpilogue::ReluBias);
  set(api->MatmulDescSetAttribute, desc, CublasDescAttribute::BiasPointer, uint64_t{256});
  EXPECT_EQ(api->MatmulDescDestroy(desc), CublasStatus::Success);
  CublasLayout layout = nullptr;
  ASSERT_EQ(api->MatrixLayoutCreate(&layout, CudaType::BF16, 64, 32, 64), CublasStatus::Success);
  set(api->MatrixLayoutSetAttribute, layout, CublasLayoutAttribute::BatchCount, int32_t{3});
  set(api->MatrixLayoutSetAttribute, layout, CublasLayoutAttribute::BatchStride, int64_t{2048});
  EXPECT_EQ(api->MatrixLayoutDestroy(layout), CublasStatus::Success);
  CublasSearch search = nullptr;
  ASSERT_EQ(api->MatmulPreferenceCreate(&search), CublasStatus::Success);
  using Attribute = CublasSearchAttribute;
  set(api->MatmulPreferenceSetAttribute, search, Attribute::WorkspaceBytes, uint64_t{1} << 25);
  for (const Attribute attribute :
       {Attribute::AlignmentA, Attribute::AlignmentB, Attribute::AlignmentC, Attribute::AlignmentD})
    set(api->MatmulPreferenceSetAttribute, search, attribute, uint32_t{16});
  EXPECT_EQ(api->MatmulPreferenceDestroy(search), CublasStatus::Success);
}

}  // namespace
}  // namespace hlo::gpu
