// The interface of cuDNN's graphs of operations in declarations of our own: nothing of CUDA is needed to
// build (abi_test compares them).
#pragma once
#include <cstddef>
#include <cstdint>

namespace hlo::gpu {

using CudnnHandle = void*;
using CudnnDescriptor = void*;

// NOLINTBEGIN(performance-enum-size): as wide as the library has them.
enum class CudnnStatus : int {
#define CUDNN_STATUS(Kind, code, name, text) Kind = code,
#include "backends/gpu/libraries/cudnn_statuses.def"
};
enum class CudnnType : int { F32 = 0, F64 = 1, F16 = 2, S32 = 4, BF16 = 9, Boolean = 11 };
/// How the filter is gone through: by the window's positions turned around, or as they are.
enum class CudnnMode : int { Convolution = 0, CrossCorrelation = 1 };
enum class CudnnPointwise : int {
  Add = 0,
  Multiply = 1,
  Divide = 6,
  Subtract = 9,
  Exp = 13,
  Log = 15,
  Relu = 100,
  Tanh = 101,
  GreaterEqual = 303,
  GenIndex = 501,
  BinarySelect = 601
};
enum class CudnnReduction : int { Add = 0, Max = 3 };
enum class CudnnNan : int { Propagate = 1 };
enum class CudnnSearch : int { ByRules = 3 };
/// What is to be known of an engine's results.
enum class CudnnNote : int {
  DownConvertInputs = 1,
  ReducedPrecisionReduction = 2,
  Fft = 3,
  Nondeterministic = 4,
  Winograd = 5,
  Winograd4x4 = 6,
  Winograd6x6 = 7,
  Winograd13x13 = 8
};
enum class CudnnDescriptorKind : int {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfig = 3,
  Search = 4,
  Plan = 5,
  Forward = 10,
  BackwardFilter = 11,
  BackwardData = 12,
  PointwiseOperation = 13,
  Graph = 15,
  Arrays = 16,
  Tensor = 17,
  Matmul = 18,
  MatmulOperation = 19,
  Reduction = 21,
  ReductionOperation = 22,
  ReshapeOperation = 31,
  Device = 38
};
enum class CudnnAttributeType : int {
  Handle = 0,
  DataType = 1,
  Boolean = 2,
  Int64 = 3,
  Float = 4,
  Double = 5,
  Pointer = 6,
  ConvolutionMode = 7,
  SearchMode = 8,
  NanPropagation = 10,
  Note = 11,
  PointwiseMode = 14,
  Descriptor = 15,
  ReductionOperator = 18,
  Char = 24
};
enum class CudnnAttribute : int {
  PointwiseMode = 0,
  PointwisePrecision = 1,
  PointwiseNans = 2,
  PointwiseAxis = 9,
  ConvolutionType = 100,
  ConvolutionMode = 101,
  ConvolutionDilations = 102,
  ConvolutionStrides = 103,
  ConvolutionPostPaddings = 104,
  ConvolutionPrePaddings = 105,
  ConvolutionDims = 106,
  SearchMode = 200,
  SearchGraph = 201,
  SearchResults = 202,
  SearchDevice = 204,
  ConfigEngine = 300,
  PlanHandle = 400,
  PlanConfig = 401,
  PlanWorkspace = 402,
  PlanDevice = 407,
  ForwardAlpha = 700,
  ForwardBeta = 701,
  ForwardConvolution = 702,
  ForwardFilter = 703,
  ForwardImage = 704,
  ForwardResponse = 705,
  DataAlpha = 706,
  DataBeta = 707,
  DataConvolution = 708,
  DataFilter = 709,
  DataImage = 710,
  DataResponse = 711,
  FilterAlpha = 712,
  FilterBeta = 713,
  FilterConvolution = 714,
  FilterFilter = 715,
  FilterImage = 716,
  FilterResponse = 717,
  OperationPointwise = 750,
  OperationX = 751,
  OperationB = 752,
  OperationY = 753,
  OperationT = 758,
  GraphHandle = 800,
  GraphOperations = 801,
  TensorAlignment = 900,
  TensorType = 901,
  TensorSizes = 902,
  TensorStrides = 903,
  TensorId = 906,
  TensorVirtual = 907,
  TensorByValue = 908,
  ArraysIds = 1000,
  ArraysPointers = 1001,
  ArraysWorkspace = 1003,
  EngineNotes = 1303,
  MatmulType = 1500,
  OperationMatmulA = 1520,
  OperationMatmulB = 1521,
  OperationMatmulC = 1522,
  OperationMatmul = 1523,
  ReductionOperator = 1600,
  ReductionType = 1601,
  OperationReductionX = 1610,
  OperationReductionY = 1611,
  OperationReduction = 1612,
  OperationReshapeX = 2200,
  OperationReshapeY = 2201,
  DeviceText = 2702
};
// NOLINTEND(performance-enum-size)

/// What is called of the library.
struct CudnnApi {
#define CUDNN_FUNCTION(name, symbol, parameters) CudnnStatus(*name) parameters = nullptr;
#include "backends/gpu/libraries/cudnn_functions.def"
};

}  // namespace hlo::gpu
