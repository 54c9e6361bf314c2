// What cuDNN is told, as its stand-in keeps it: descriptions and their attributes.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "backends/gpu/libraries/cudnn_api.h"
#include "testdata/gpu/numbers.h"

namespace hlo::gpu {

using numbers::Kind;
using A = CudnnAttribute;
using T = CudnnAttributeType;
using K = CudnnDescriptorKind;

struct AttributeRow {
  K kind;
  A attribute;
  T type;
};
inline constexpr AttributeRow kAttributes[] = {
    {K::Pointwise, A::PointwiseMode, T::PointwiseMode},
    {K::Pointwise, A::PointwisePrecision, T::DataType},
    {K::Pointwise, A::PointwiseNans, T::NanPropagation},
    {K::Pointwise, A::PointwiseAxis, T::Int64},
    {K::Convolution, A::ConvolutionType, T::DataType},
    {K::Convolution, A::ConvolutionMode, T::ConvolutionMode},
    {K::Convolution, A::ConvolutionDims, T::Int64},
    {K::Convolution, A::ConvolutionDilations, T::Int64},
    {K::Convolution, A::ConvolutionStrides, T::Int64},
    {K::Convolution, A::ConvolutionPrePaddings, T::Int64},
    {K::Convolution, A::ConvolutionPostPaddings, T::Int64},
    {K::Search, A::SearchGraph, T::Descriptor},
    {K::Search, A::SearchMode, T::SearchMode},
    {K::Plan, A::PlanHandle, T::Handle},
    {K::Plan, A::PlanConfig, T::Descriptor},
    {K::Forward, A::ForwardAlpha, T::Float},
    {K::Forward, A::ForwardBeta, T::Float},
    {K::Forward, A::ForwardConvolution, T::Descriptor},
    {K::Forward, A::ForwardFilter, T::Descriptor},
    {K::Forward, A::ForwardImage, T::Descriptor},
    {K::Forward, A::ForwardResponse, T::Descriptor},
    {K::BackwardData, A::DataAlpha, T::Float},
    {K::BackwardData, A::DataBeta, T::Float},
    {K::BackwardData, A::DataConvolution, T::Descriptor},
    {K::BackwardData, A::DataFilter, T::Descriptor},
    {K::BackwardData, A::DataImage, T::Descriptor},
    {K::BackwardData, A::DataResponse, T::Descriptor},
    {K::BackwardFilter, A::FilterAlpha, T::Float},
    {K::BackwardFilter, A::FilterBeta, T::Float},
    {K::BackwardFilter, A::FilterConvolution, T::Descriptor},
    {K::BackwardFilter, A::FilterFilter, T::Descriptor},
    {K::BackwardFilter, A::FilterImage, T::Descriptor},
    {K::BackwardFilter, A::FilterResponse, T::Descriptor},
    {K::PointwiseOperation, A::OperationPointwise, T::Descriptor},
    {K::PointwiseOperation, A::OperationX, T::Descriptor},
    {K::PointwiseOperation, A::OperationB, T::Descriptor},
    {K::PointwiseOperation, A::OperationY, T::Descriptor},
    {K::PointwiseOperation, A::OperationT, T::Descriptor},
    {K::Matmul, A::MatmulType, T::DataType},
    {K::MatmulOperation, A::OperationMatmulA, T::Descriptor},
    {K::MatmulOperation, A::OperationMatmulB, T::Descriptor},
    {K::MatmulOperation, A::OperationMatmulC, T::Descriptor},
    {K::MatmulOperation, A::OperationMatmul, T::Descriptor},
    {K::Reduction, A::ReductionOperator, T::ReductionOperator},
    {K::Reduction, A::ReductionType, T::DataType},
    {K::ReductionOperation, A::OperationReductionX, T::Descriptor},
    {K::ReductionOperation, A::OperationReductionY, T::Descriptor},
    {K::ReductionOperation, A::OperationReduction, T::Descriptor},
    {K::ReshapeOperation, A::OperationReshapeX, T::Descriptor},
    {K::ReshapeOperation, A::OperationReshapeY, T::Descriptor},
    {K::Graph, A::GraphHandle, T::Handle},
    {K::Graph, A::GraphOperations, T::Descriptor},
    {K::Arrays, A::ArraysIds, T::Int64},
    {K::Arrays, A::ArraysPointers, T::Pointer},
    {K::Arrays, A::ArraysWorkspace, T::Pointer},
    {K::Tensor, A::TensorAlignment, T::Int64},
    {K::Tensor, A::TensorType, T::DataType},
    {K::Tensor, A::TensorSizes, T::Int64},
    {K::Tensor, A::TensorStrides, T::Int64},
    {K::Tensor, A::TensorId, T::Int64},
    {K::Tensor, A::TensorVirtual, T::Boolean},
    {K::Tensor, A::TensorByValue, T::Boolean},
};

struct TypeRow {
  CudnnType type;
  Kind kind;
};
inline constexpr TypeRow kTypes[] = {{CudnnType::F32, Kind::F32}, {CudnnType::F64, Kind::F64},
                                     {CudnnType::F16, Kind::F16}, {CudnnType::BF16, Kind::BF16},
                                     {CudnnType::S32, Kind::S32}, {CudnnType::Boolean, Kind::S8}};

/// What was set, as bytes.
struct Description {
  explicit Description(K of) : kind(of) {}
  K kind;
  bool finished = false;
  size_t engine = 0;                   // of engines, configurations and plans
  const Description* graph = nullptr;  // of these
  std::map<A, std::vector<char>> values;

  template <class V>
  [[nodiscard]] std::vector<V> All(A attribute) const {
    const auto it = values.find(attribute);
    if (it == values.end()) return {};
    std::vector<V> all(it->second.size() / sizeof(V));
    std::memcpy(all.data(), it->second.data(), all.size() * sizeof(V));
    return all;
  }
  template <class V>
  [[nodiscard]] V One(A attribute) const {
    const auto it = values.find(attribute);
    V value = {};
    if (it != values.end() && it->second.size() == sizeof value)
      std::memcpy(&value, it->second.data(), sizeof value);
    return value;
  }
  [[nodiscard]] const Description& Part(A attribute) const { return *One<const Description*>(attribute); }
  [[nodiscard]] bool Has(A attribute) const { return values.contains(attribute); }
};

inline Kind KindOf(const Description& tensor) {
  for (const TypeRow& row : kTypes)
    if (row.type == tensor.One<CudnnType>(A::TensorType)) return row.kind;
  return Kind::F32;
}
inline std::vector<int64_t> SizesOf(const Description& tensor) { return tensor.All<int64_t>(A::TensorSizes); }

inline size_t SizeOf(T type) {
  switch (type) {
    case T::Boolean: return sizeof(bool);
    case T::Int64:
    case T::Double:
    case T::Handle:
    case T::Pointer:
    case T::Descriptor: return sizeof(int64_t);
    default: return sizeof(int);
  }
}

}  // namespace hlo::gpu
