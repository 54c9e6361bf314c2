// Graphs of cuDNN's operations, and what the library makes of one.
#pragma once
#include <list>

#include "backends/gpu/libraries/cudnn_descriptor.h"
#include "backends/gpu/libraries/view.h"

namespace hlo::gpu {

/// As the library numbers types of elements.
CudnnType CudnnTypeOf(ElementType type);

/// A tensor of a graph.
struct CudnnTensor {
  CudnnType type = CudnnType::F32;
  llvm::ArrayRef<ViewDim> dims;
  enum class Place : uint8_t {
    Memory,
    OnTheWay,  // from an operation to another one
    Host       // a number that the call brings
  } place = Place::Memory;
  uint64_t alignment = 16;  // bytes, as far as it pays
};

/// Operations and tensors as they are described to the library, in the order in which they are added. What is
/// described lives as long as the graph.
class CudnnGraph {
 public:
  /// Of a library that outlives it.
  explicit CudnnGraph(const Cudnn& library) : library_(library) {}
  /// An empty description. Errors: runtime-gpu, here and below.
  Result<Descriptor*> Add(CudnnDescriptorKind kind);
  /// Tensors are numbered in the order in which they are added.
  Result<const Descriptor*> AddTensor(const CudnnTensor& tensor);
  /// An operation on x, perhaps on b, that makes y, and where t says so b instead of x. `axis`: of numbers.
  struct Pointwise {
    CudnnPointwise mode;
    const Descriptor *x, *y;
    const Descriptor *b = nullptr, *t = nullptr;
    CudnnType precision = CudnnType::F32;
    std::optional<int64_t> axis = std::nullopt;
  };
  Status AddPointwise(const Pointwise& operation);
  /// A description of an operation is whole.
  Status AddOperation(Descriptor& operation);
  /// The description of it all.
  Result<const Descriptor*> Finish();

 private:
  const Cudnn& library_;
  std::list<Descriptor> parts_;
  int64_t tensors_ = 0;
  llvm::SmallVector<CudnnDescriptor, 12> operations_;
};

/// A graph and the engine that computes it.
class CudnnPlan {
 public:
  explicit CudnnPlan(std::shared_ptr<Cudnn> library) : library_(std::move(library)), graph_(*library_) {}
  [[nodiscard]] const Cudnn& library() const { return *library_; }
  /// To be finished by Search().
  [[nodiscard]] CudnnGraph& graph() { return graph_; }
  /// Takes the first engine of the library's heuristic that is ready for the GPU, gives the same results in
  /// each run and rounds no more than the graph's types. Declines where there is none that takes no more
  /// memory besides the arrays: 32 MiB, or `most` bytes if those are more.
  Status Search(int64_t most = 0);
  /// Of memory besides the arrays.
  [[nodiscard]] size_t workspace_bytes() const { return static_cast<size_t>(workspace_); }
  /// Asks a stream for it: where the first tensors of the graph are, on the GPU or the host.
  Status Execute(void* stream, uint64_t workspace, llvm::ArrayRef<uint64_t> at) const;

 private:
  Result<bool> IsExact(const Descriptor& config) const;
  Status Take(Descriptor& config, int64_t most);
  Result<std::pair<Descriptor, int64_t>> MakePlan(const Descriptor& config) const;

  std::shared_ptr<Cudnn> library_;
  CudnnGraph graph_;
  std::optional<Descriptor> config_, plan_;
  int64_t workspace_ = 0;
};

/// Where the tensors of a work begin, of the arrays of a step: in the order of its Tensors(). Numbers below 0
/// are those of results, from -1 downwards.
template <class Work>
llvm::SmallVector<uint64_t, 16> AddressesOf(const Work& work, const LibraryArrays& at) {
  llvm::SmallVector<uint64_t, 16> addresses;
  for (const auto* tensor : work.Tensors()) {
    const uint64_t array = tensor->array < 0 ? at.results[static_cast<size_t>(-1 - tensor->array)]
                                             : at.operands[static_cast<size_t>(tensor->array)];
    addresses.push_back(array + static_cast<uint64_t>(tensor->offset * Info(tensor->type).host_bytes()));
  }
  return addresses;
}

/// The greatest power of 2 up to 256 that divides an alignment: more is no better.
uint64_t UsefulAlignment(uint64_t alignment);

}  // namespace hlo::gpu
