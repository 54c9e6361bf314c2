#include "backends/gpu/libraries/attention_graph.h"

namespace hlo::gpu {

AttentionGraph::AttentionGraph(CudnnGraph& graph, const LibraryAttention& attention) : graph_(graph) {
  const int64_t queries = attention.queries.dims[Queries].size, keys = attention.keys.dims[Queries].size;
  const int64_t batch = attention.queries.dims[Batch].size, heads = attention.queries.dims[Heads].size;
  scores_ = Packed({batch, heads, queries, keys});
  rows_ = Packed({batch, heads, queries, 1});
}

AttentionGraph::Dims4 AttentionGraph::Packed(llvm::ArrayRef<int64_t> sizes) {
  Dims4 dims;
  int64_t stride = 1;
  for (const int64_t size : llvm::reverse(sizes)) {
    dims.insert(dims.begin(), {size, stride});
    stride *= size;
  }
  return dims;
}

Result<const Descriptor*> AttentionGraph::AddNumber(double value) {
  numbers_.push_back(static_cast<float>(value));
  return graph_.AddTensor({CudnnType::F32, Packed({1, 1, 1, 1}), Place::Host, sizeof(float)});
}

Result<const Descriptor*> AttentionGraph::OnTheWay(llvm::ArrayRef<ViewDim> dims, CudnnType type) {
  return graph_.AddTensor({type, dims, Place::OnTheWay});
}

Result<const Descriptor*> AttentionGraph::Product(const Descriptor& a, const Descriptor& b,
                                                  const Descriptor* c) {
  if (c == nullptr) {
    HLO_TRY(c, OnTheWay(scores_));
  }
  HLO_TRY(Descriptor* const kind, graph_.Add(CudnnDescriptorKind::Matmul));
  HLO_CHECK_OK(kind->Set(A::MatmulType, T::DataType, CudnnType::F32));
  HLO_CHECK_OK(kind->Finish());
  HLO_TRY(Descriptor* const made, graph_.Add(CudnnDescriptorKind::MatmulOperation));
  HLO_CHECK_OK(made->Set(A::OperationMatmulA, a));
  HLO_CHECK_OK(made->Set(A::OperationMatmulB, b));
  HLO_CHECK_OK(made->Set(A::OperationMatmulC, *c));
  HLO_CHECK_OK(made->Set(A::OperationMatmul, *kind));
  HLO_CHECK_OK(graph_.AddOperation(*made));
  return c;
}

Status AttentionGraph::Step(CudnnPointwise mode, const Descriptor* with, CudnnType type) {
  HLO_TRY(const Descriptor* const made, OnTheWay(scores_, type));
  HLO_CHECK_OK(graph_.AddPointwise({.mode = mode, .x = at_, .y = made, .b = with}));
  at_ = made;
  return {};
}

Status AttentionGraph::Reduce(CudnnReduction op, const Descriptor& from, const Descriptor& rows) {
  HLO_TRY(Descriptor* const kind, graph_.Add(CudnnDescriptorKind::Reduction));
  HLO_CHECK_OK(kind->Set(A::ReductionOperator, T::ReductionOperator, op));
  HLO_CHECK_OK(kind->Set(A::ReductionType, T::DataType, CudnnType::F32));
  HLO_CHECK_OK(kind->Finish());
  HLO_TRY(Descriptor* const made, graph_.Add(CudnnDescriptorKind::ReductionOperation));
  HLO_CHECK_OK(made->Set(A::OperationReductionX, from));
  HLO_CHECK_OK(made->Set(A::OperationReductionY, rows));
  HLO_CHECK_OK(made->Set(A::OperationReduction, *kind));
  return graph_.AddOperation(*made);
}

Result<const Descriptor*> AttentionGraph::NumbersAlong(Dim dim) {
  HLO_TRY(const Descriptor* const made, OnTheWay(scores_, CudnnType::S32));
  HLO_CHECK_OK(graph_.AddPointwise(
      {.mode = CudnnPointwise::GenIndex, .x = at_, .y = made, .axis = static_cast<int64_t>(dim)}));
  return made;
}

Status AttentionGraph::Mask(const Descriptor& masked) {
  HLO_TRY(const Descriptor* const rows, NumbersAlong(Queries));
  HLO_TRY(const Descriptor* const columns, NumbersAlong(Keys));
  HLO_TRY(const Descriptor* const keep, OnTheWay(scores_, CudnnType::Boolean));
  HLO_CHECK_OK(graph_.AddPointwise({.mode = CudnnPointwise::GreaterEqual,
                                    .x = rows,
                                    .y = keep,
                                    .b = columns,
                                    .precision = CudnnType::Boolean}));
  HLO_TRY(const Descriptor* const made, OnTheWay(scores_));
  HLO_CHECK_OK(graph_.AddPointwise(
      {.mode = CudnnPointwise::BinarySelect, .x = at_, .y = made, .b = &masked, .t = keep}));
  at_ = made;
  return {};
}

}  // namespace hlo::gpu
