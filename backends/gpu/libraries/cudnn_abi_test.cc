// Our declarations of cuDNN against its own, where its headers are, and against the library, where it is.
#include "backends/gpu/libraries/abi.h"
#include "backends/gpu/libraries/cudnn.h"
#include "gtest/gtest.h"

#if __has_include(<cudnn_graph.h>)
#include <cudnn_graph.h>

namespace hlo::gpu {
namespace {

using S = CudnnStatus;
static_assert(kSame<S::Success, CUDNN_STATUS_SUCCESS>);
static_assert(kSame<S::NotInitialized, CUDNN_STATUS_NOT_INITIALIZED>);
static_assert(kSame<S::SublibraryMismatch, CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH>);
static_assert(kSame<S::LicenseError, CUDNN_STATUS_LICENSE_ERROR>);
static_assert(kSame<S::BadParameter, CUDNN_STATUS_BAD_PARAM>);
static_assert(kSame<S::MisalignedPointer, CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER>);
static_assert(kSame<S::NotFinalized, CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED>);
static_assert(kSame<S::ShapeMismatch, CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH>);
static_assert(kSame<S::AttributeType, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE>);
static_assert(kSame<S::NotSupported, CUDNN_STATUS_NOT_SUPPORTED>);
static_assert(kSame<S::InternalError, CUDNN_STATUS_INTERNAL_ERROR>);
static_assert(kSame<S::AllocFailed, CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED>);
static_assert(kSame<S::DeviceAllocFailed, CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED>);
static_assert(kSame<S::ExecutionFailed, CUDNN_STATUS_EXECUTION_FAILED>);

static_assert(kSame<CudnnType::F32, CUDNN_DATA_FLOAT>);
static_assert(kSame<CudnnType::F64, CUDNN_DATA_DOUBLE>);
static_assert(kSame<CudnnType::F16, CUDNN_DATA_HALF>);
static_assert(kSame<CudnnType::S32, CUDNN_DATA_INT32>);
static_assert(kSame<CudnnType::BF16, CUDNN_DATA_BFLOAT16>);
static_assert(kSame<CudnnType::Boolean, CUDNN_DATA_BOOLEAN>);
static_assert(kSame<CudnnMode::Convolution, CUDNN_CONVOLUTION>);
static_assert(kSame<CudnnMode::CrossCorrelation, CUDNN_CROSS_CORRELATION>);
static_assert(kSame<CudnnPointwise::Add, CUDNN_POINTWISE_ADD>);
static_assert(kSame<CudnnPointwise::Multiply, CUDNN_POINTWISE_MUL>);
static_assert(kSame<CudnnPointwise::Divide, CUDNN_POINTWISE_DIV>);
static_assert(kSame<CudnnPointwise::Subtract, CUDNN_POINTWISE_SUB>);
static_assert(kSame<CudnnPointwise::Exp, CUDNN_POINTWISE_EXP>);
static_assert(kSame<CudnnPointwise::Log, CUDNN_POINTWISE_LOG>);
static_assert(kSame<CudnnPointwise::Relu, CUDNN_POINTWISE_RELU_FWD>);
static_assert(kSame<CudnnPointwise::Tanh, CUDNN_POINTWISE_TANH_FWD>);
static_assert(kSame<CudnnPointwise::GreaterEqual, CUDNN_POINTWISE_CMP_GE>);
static_assert(kSame<CudnnPointwise::GenIndex, CUDNN_POINTWISE_GEN_INDEX>);
static_assert(kSame<CudnnPointwise::BinarySelect, CUDNN_POINTWISE_BINARY_SELECT>);
static_assert(kSame<CudnnReduction::Add, CUDNN_REDUCE_TENSOR_ADD>);
static_assert(kSame<CudnnReduction::Max, CUDNN_REDUCE_TENSOR_MAX>);
static_assert(kSame<CudnnSearch::ByRules, CUDNN_HEUR_MODE_A>);

using N = CudnnNote;
static_assert(kSame<N::DownConvertInputs, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS>);
static_assert(kSame<N::ReducedPrecisionReduction, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION>);
static_assert(kSame<N::Fft, CUDNN_NUMERICAL_NOTE_FFT>);
static_assert(kSame<N::Nondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC>);
static_assert(kSame<N::Winograd, CUDNN_NUMERICAL_NOTE_WINOGRAD>);
static_assert(kSame<N::Winograd4x4, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4>);
static_assert(kSame<N::Winograd6x6, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6>);
static_assert(kSame<N::Winograd13x13, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13>);

using K = CudnnDescriptorKind;
static_assert(kSame<K::Pointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR>);
static_assert(kSame<K::Convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR>);
static_assert(kSame<K::Engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR>);
static_assert(kSame<K::EngineConfig, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR>);
static_assert(kSame<K::Search, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR>);
static_assert(kSame<K::Plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR>);
static_assert(kSame<K::Forward, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR>);
static_assert(kSame<K::BackwardFilter, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR>);
static_assert(kSame<K::BackwardData, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR>);
static_assert(kSame<K::PointwiseOperation, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR>);
static_assert(kSame<K::Graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR>);
static_assert(kSame<K::Arrays, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR>);
static_assert(kSame<K::Tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR>);
static_assert(kSame<K::Matmul, CUDNN_BACKEND_MATMUL_DESCRIPTOR>);
static_assert(kSame<K::MatmulOperation, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR>);
static_assert(kSame<K::Reduction, CUDNN_BACKEND_REDUCTION_DESCRIPTOR>);
static_assert(kSame<K::ReductionOperation, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR>);
static_assert(kSame<K::ReshapeOperation, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR>);

using T = CudnnAttributeType;
static_assert(kSame<T::Handle, CUDNN_TYPE_HANDLE>);
static_assert(kSame<T::DataType, CUDNN_TYPE_DATA_TYPE>);
static_assert(kSame<T::Boolean, CUDNN_TYPE_BOOLEAN>);
static_assert(kSame<T::Int64, CUDNN_TYPE_INT64>);
static_assert(kSame<T::Float, CUDNN_TYPE_FLOAT>);
static_assert(kSame<T::Double, CUDNN_TYPE_DOUBLE>);
static_assert(kSame<T::Pointer, CUDNN_TYPE_VOID_PTR>);
static_assert(kSame<T::ConvolutionMode, CUDNN_TYPE_CONVOLUTION_MODE>);
static_assert(kSame<T::SearchMode, CUDNN_TYPE_HEUR_MODE>);
static_assert(kSame<T::Note, CUDNN_TYPE_NUMERICAL_NOTE>);
static_assert(kSame<T::PointwiseMode, CUDNN_TYPE_POINTWISE_MODE>);
static_assert(kSame<T::Descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR>);
static_assert(kSame<T::ReductionOperator, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE>);

using A = CudnnAttribute;
static_assert(kSame<A::PointwiseMode, CUDNN_ATTR_POINTWISE_MODE>);
static_assert(kSame<A::PointwisePrecision, CUDNN_ATTR_POINTWISE_MATH_PREC>);
static_assert(kSame<A::PointwiseAxis, CUDNN_ATTR_POINTWISE_AXIS>);
static_assert(kSame<A::ConvolutionType, CUDNN_ATTR_CONVOLUTION_COMP_TYPE>);
static_assert(kSame<A::ConvolutionMode, CUDNN_ATTR_CONVOLUTION_CONV_MODE>);
static_assert(kSame<A::ConvolutionDilations, CUDNN_ATTR_CONVOLUTION_DILATIONS>);
static_assert(kSame<A::ConvolutionStrides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES>);
static_assert(kSame<A::ConvolutionPostPaddings, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS>);
static_assert(kSame<A::ConvolutionPrePaddings, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS>);
static_assert(kSame<A::ConvolutionDims, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS>);
static_assert(kSame<A::SearchMode, CUDNN_ATTR_ENGINEHEUR_MODE>);
static_assert(kSame<A::SearchGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH>);
static_assert(kSame<A::SearchResults, CUDNN_ATTR_ENGINEHEUR_RESULTS>);
static_assert(kSame<A::ConfigEngine, CUDNN_ATTR_ENGINECFG_ENGINE>);
static_assert(kSame<A::PlanConfig, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG>);
static_assert(kSame<A::PlanWorkspace, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE>);
static_assert(kSame<A::ForwardAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA>);
static_assert(kSame<A::ForwardBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA>);
static_assert(kSame<A::ForwardConvolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC>);
static_assert(kSame<A::ForwardFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W>);
static_assert(kSame<A::ForwardImage, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X>);
static_assert(kSame<A::ForwardResponse, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y>);
static_assert(kSame<A::DataAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA>);
static_assert(kSame<A::DataBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA>);
static_assert(kSame<A::DataConvolution, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC>);
static_assert(kSame<A::DataFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W>);
static_assert(kSame<A::DataImage, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX>);
static_assert(kSame<A::DataResponse, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY>);
static_assert(kSame<A::FilterAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA>);
static_assert(kSame<A::FilterBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA>);
static_assert(kSame<A::FilterConvolution, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC>);
static_assert(kSame<A::FilterFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW>);
static_assert(kSame<A::FilterImage, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X>);
static_assert(kSame<A::FilterResponse, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY>);
static_assert(kSame<A::OperationPointwise, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR>);
static_assert(kSame<A::OperationX, CUDNN_ATTR_OPERATION_POINTWISE_XDESC>);
static_assert(kSame<A::OperationB, CUDNN_ATTR_OPERATION_POINTWISE_BDESC>);
static_assert(kSame<A::OperationY, CUDNN_ATTR_OPERATION_POINTWISE_YDESC>);
static_assert(kSame<A::OperationT, CUDNN_ATTR_OPERATION_POINTWISE_TDESC>);
static_assert(kSame<A::GraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS>);
static_assert(kSame<A::TensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT>);
static_assert(kSame<A::TensorType, CUDNN_ATTR_TENSOR_DATA_TYPE>);
static_assert(kSame<A::TensorSizes, CUDNN_ATTR_TENSOR_DIMENSIONS>);
static_assert(kSame<A::TensorStrides, CUDNN_ATTR_TENSOR_STRIDES>);
static_assert(kSame<A::TensorId, CUDNN_ATTR_TENSOR_UNIQUE_ID>);
static_assert(kSame<A::TensorVirtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL>);
static_assert(kSame<A::TensorByValue, CUDNN_ATTR_TENSOR_IS_BY_VALUE>);
static_assert(kSame<A::ArraysIds, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS>);
static_assert(kSame<A::ArraysPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS>);
static_assert(kSame<A::ArraysWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE>);
static_assert(kSame<A::EngineNotes, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE>);
static_assert(kSame<A::MatmulType, CUDNN_ATTR_MATMUL_COMP_TYPE>);
static_assert(kSame<A::OperationMatmulA, CUDNN_ATTR_OPERATION_MATMUL_ADESC>);
static_assert(kSame<A::OperationMatmulB, CUDNN_ATTR_OPERATION_MATMUL_BDESC>);
static_assert(kSame<A::OperationMatmulC, CUDNN_ATTR_OPERATION_MATMUL_CDESC>);
static_assert(kSame<A::OperationMatmul, CUDNN_ATTR_OPERATION_MATMUL_DESC>);
static_assert(kSame<A::ReductionOperator, CUDNN_ATTR_REDUCTION_OPERATOR>);
static_assert(kSame<A::ReductionType, CUDNN_ATTR_REDUCTION_COMP_TYPE>);
static_assert(kSame<A::OperationReductionX, CUDNN_ATTR_OPERATION_REDUCTION_XDESC>);
static_assert(kSame<A::OperationReductionY, CUDNN_ATTR_OPERATION_REDUCTION_YDESC>);
static_assert(kSame<A::OperationReduction, CUDNN_ATTR_OPERATION_REDUCTION_DESC>);
static_assert(kSame<A::OperationReshapeX, CUDNN_ATTR_OPERATION_RESHAPE_XDESC>);
static_assert(kSame<A::OperationReshapeY, CUDNN_ATTR_OPERATION_RESHAPE_YDESC>);

// What earlier headers do not have.
#if CUDNN_VERSION >= 90800
static_assert(kSame<K::Device, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR>);
static_assert(kSame<T::Char, CUDNN_TYPE_CHAR>);
static_assert(kSame<A::SearchDevice, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP>);
static_assert(kSame<A::PlanDevice, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP>);
static_assert(kSame<A::DeviceText, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION>);
#endif

// What the headers call obsolete, and later ones may not have.
static_assert(static_cast<int>(A::PointwiseNans) == 2);
static_assert(static_cast<int>(A::PlanHandle) == 400);
static_assert(static_cast<int>(A::GraphHandle) == 800);
static_assert(static_cast<int>(T::NanPropagation) == 10);

#define CUDNN_FUNCTION(name, symbol, parameters) \
  static_assert(IsAlike(decltype(CudnnApi::name)(nullptr), decltype (&::symbol)(nullptr)));
#include "backends/gpu/libraries/cudnn_functions.def"

}  // namespace
}  // namespace hlo::gpu

TEST(CudnnAbi, IsThatOfTheLibrary) {}
#else
TEST(CudnnAbi, IsThatOfTheLibrary) { GTEST_SKIP() << "cudnn_graph.h is not installed"; }
#endif

namespace hlo::gpu {
namespace {

// Descriptions need no GPU: attributes have the types that the library expects.
TEST(CudnnLibrary, TakesDescriptions) {
  const auto library = OpenLibrary({"libcudnn.so.9"}, {});
  if (!library) GTEST_SKIP() << library.error().message;
  const auto api = ReadCudnn(*library);
  ASSERT_TRUE(api) << api.error().message;
  CudnnDescriptor tensor = nullptr;
  ASSERT_EQ(api->CreateDescriptor(CudnnDescriptorKind::Tensor, &tensor), CudnnStatus::Success);
  const auto set = [&](CudnnAttribute attribute, CudnnAttributeType type, const auto& value, int64_t count) {
    EXPECT_EQ(api->SetAttribute(tensor, attribute, type, count, &value), CudnnStatus::Success);
  };
  const int64_t sizes[] = {8, 64, 14, 14}, strides[] = {12544, 1, 896, 64};
  set(CudnnAttribute::TensorType, CudnnAttributeType::DataType, CudnnType::BF16, 1);
  set(CudnnAttribute::TensorSizes, CudnnAttributeType::Int64, sizes, std::size(sizes));
  set(CudnnAttribute::TensorStrides, CudnnAttributeType::Int64, strides, std::size(strides));
  set(CudnnAttribute::TensorId, CudnnAttributeType::Int64, int64_t{0}, 1);
  set(CudnnAttribute::TensorAlignment, CudnnAttributeType::Int64, int64_t{256}, 1);
  set(CudnnAttribute::TensorVirtual, CudnnAttributeType::Boolean, false, 1);
  EXPECT_EQ(api->Finalize(tensor), CudnnStatus::Success);
  EXPECT_EQ(api->DestroyDescriptor(tensor), CudnnStatus::Success);
}

}  // namespace
}  // namespace hlo::gpu
