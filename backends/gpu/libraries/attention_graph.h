// Operations that attention and its gradients are described by.
#pragma once
#include "backends/gpu/libraries/attention.h"
#include "backends/gpu/libraries/cudnn_graph.h"

namespace hlo::gpu {

/// Describes the operations of a graph one after the other: what each makes is the next one's.
class AttentionGraph {
 protected:
  using A = CudnnAttribute;
  using T = CudnnAttributeType;
  using Place = CudnnTensor::Place;
  using Dims4 = llvm::SmallVector<ViewDim, 4>;
  /// Dimensions of scores.
  enum Dim : size_t { Batch, Heads, Queries, Keys };

  AttentionGraph(CudnnGraph& graph, const LibraryAttention& attention);
  /// Elements one after the other.
  static Dims4 Packed(llvm::ArrayRef<int64_t> sizes);
  /// The last two dimensions change places.
  static Dims4 Turned(Dims4 dims) {
    std::swap(dims[Queries], dims[Keys]);
    return dims;
  }

  Result<const Descriptor*> AddNumber(double value);
  Result<const Descriptor*> OnTheWay(llvm::ArrayRef<ViewDim> dims, CudnnType type = CudnnType::F32);
  /// Without `c` what it makes are scores.
  Result<const Descriptor*> Product(const Descriptor& a, const Descriptor& b, const Descriptor* c);
  /// What the operations so far make, and perhaps something else; `with` may be null.
  Status Step(CudnnPointwise mode, const Descriptor* with, CudnnType type = CudnnType::F32);
  /// Along the last dimension.
  Status Reduce(CudnnReduction op, const Descriptor& from, const Descriptor& rows);
  /// Scores of keys behind their query are another number.
  Status Mask(const Descriptor& masked);

  CudnnGraph& graph_;
  Dims4 scores_, rows_;
  const Descriptor* at_ = nullptr;  // what the operations so far make
  llvm::SmallVector<float, 4> numbers_;

 private:
  Result<const Descriptor*> NumbersAlong(Dim dim);
};

}  // namespace hlo::gpu
