// Convolutions as graphs of the library's operations, and the engine that computes one.
#include <list>

#include "backends/gpu/libraries/convolution.h"
#include "backends/gpu/libraries/cudnn_descriptor.h"

namespace hlo::gpu {
namespace {

using A = CudnnAttribute;
using T = CudnnAttributeType;
using Direction = LibraryConvolution::Direction;

/// Engines that are tried of each search, and notes that one has at most.
constexpr size_t kMostConfigs = 64, kMostNotes = 16;
/// The most bytes that an engine may take besides the arrays: as much as products.
constexpr int64_t kMostWorkspace = int64_t{32} << 20;
/// Addresses that are multiples of more are no better. Bytes.
constexpr uint64_t kMostAlignment = 256;

/// Where tensors begin, of arrays of the step.
llvm::SmallVector<uint64_t, 5> AddressesOf(const LibraryConvolution& convolution, const LibraryArrays& at) {
  llvm::SmallVector<uint64_t, 5> addresses;
  for (const LibraryTensor* tensor : convolution.Tensors()) {
    const uint64_t array =
        tensor->array < 0 ? at.results.front() : at.operands[static_cast<size_t>(tensor->array)];
    addresses.push_back(array + static_cast<uint64_t>(tensor->offset * Info(tensor->type).host_bytes()));
  }
  return addresses;
}

struct TypeRow {
  ElementType type;
  CudnnType number;
};
constexpr TypeRow kTypes[] = {{ElementType::F16, CudnnType::F16},
                              {ElementType::BF16, CudnnType::BF16},
                              {ElementType::F32, CudnnType::F32},
                              {ElementType::F64, CudnnType::F64}};
CudnnType NumberOf(ElementType type) {
  return llvm::find_if(kTypes, [&](const TypeRow& row) { return row.type == type; })->number;
}

/// The operation of a direction, and its attributes.
struct OperationRow {
  Direction direction;
  CudnnDescriptorKind kind;
  A image, filter, response, convolution, alpha, beta;
};
constexpr OperationRow kOperations[] = {
    {Direction::Forward, CudnnDescriptorKind::Forward, A::ForwardImage, A::ForwardFilter, A::ForwardResponse,
     A::ForwardConvolution, A::ForwardAlpha, A::ForwardBeta},
    {Direction::BackwardFilter, CudnnDescriptorKind::BackwardFilter, A::FilterImage, A::FilterFilter,
     A::FilterResponse, A::FilterConvolution, A::FilterAlpha, A::FilterBeta},
    {Direction::BackwardData, CudnnDescriptorKind::BackwardData, A::DataImage, A::DataFilter, A::DataResponse,
     A::DataConvolution, A::DataAlpha, A::DataBeta},
};

struct StepRow {
  EpilogueStep::Op op;
  CudnnPointwise mode;
};
constexpr StepRow kSteps[] = {{EpilogueStep::Op::Add, CudnnPointwise::Add},
                              {EpilogueStep::Op::Multiply, CudnnPointwise::Multiply},
                              {EpilogueStep::Op::Relu, CudnnPointwise::Relu}};

/// What an engine may not do: results that differ from run to run, or that are rounded on the way by more
/// than the order of a sum.
constexpr CudnnNote kForbidden[] = {CudnnNote::DownConvertInputs,
                                    CudnnNote::ReducedPrecisionReduction,
                                    CudnnNote::Fft,
                                    CudnnNote::Nondeterministic,
                                    CudnnNote::Winograd,
                                    CudnnNote::Winograd4x4,
                                    CudnnNote::Winograd6x6,
                                    CudnnNote::Winograd13x13};

/// The graph of a convolution and its descriptions, which live as long as its plan.
class Graph {
 public:
  Graph(const Cudnn& library, const LibraryConvolution& convolution, const LibraryArrays& alignments)
      : library_(library), convolution_(convolution), alignments_(AddressesOf(convolution, alignments)) {
    for (uint64_t& alignment : alignments_) {
      const uint64_t all = alignment | kMostAlignment;
      alignment = all & (~all + 1);
    }
  }

  /// The description of it all.
  Result<const Descriptor*> Make() {
    HLO_CHECK_OK(AddTensors());
    HLO_TRY(Descriptor* const graph, Add(CudnnDescriptorKind::Graph));
    HLO_CHECK_OK(AddConvolution());
    HLO_CHECK_OK(AddSteps());
    HLO_CHECK_OK(graph->Set(A::GraphHandle, T::Handle, library_.handle()));
    HLO_CHECK_OK(
        graph->SetEach(A::GraphOperations, T::Descriptor, llvm::ArrayRef<CudnnDescriptor>(operations_)));
    HLO_CHECK_OK(graph->Finish());
    return graph;
  }
  std::list<Descriptor> TakeParts() && { return std::move(parts_); }

 private:
  Result<Descriptor*> Add(CudnnDescriptorKind kind) {
    HLO_TRY(Descriptor made, Descriptor::Make(library_, kind));
    parts_.push_back(std::move(made));
    return &parts_.back();
  }
  static T FactorType(ElementType sums) { return sums == ElementType::F64 ? T::Double : T::Float; }

  Result<Descriptor*> AddTensor(const LibraryTensor& tensor, ElementType type, int64_t id, uint64_t alignment,
                                bool is_virtual) {
    HLO_TRY(Descriptor* const made, Add(CudnnDescriptorKind::Tensor));
    llvm::SmallVector<int64_t, 5> sizes, strides;
    for (const ViewDim& dim : tensor.dims) {
      sizes.push_back(dim.size);
      strides.push_back(dim.stride);
    }
    HLO_CHECK_OK(made->Set(A::TensorType, T::DataType, NumberOf(type)));
    HLO_CHECK_OK(made->SetEach(A::TensorSizes, T::Int64, llvm::ArrayRef<int64_t>(sizes)));
    HLO_CHECK_OK(made->SetEach(A::TensorStrides, T::Int64, llvm::ArrayRef<int64_t>(strides)));
    HLO_CHECK_OK(made->Set(A::TensorId, T::Int64, id));
    HLO_CHECK_OK(made->Set(A::TensorAlignment, T::Int64, static_cast<int64_t>(alignment)));
    HLO_CHECK_OK(made->Set(A::TensorVirtual, T::Boolean, is_virtual));
    HLO_CHECK_OK(made->Finish());
    return made;
  }

  /// Those in memory count from 0 as Tensors() has them; behind these what only is on the way.
  Status AddTensors() {
    const auto all = convolution_.Tensors();
    for (size_t i = 0; i < all.size(); ++i) {
      HLO_TRY(tensors_.emplace_back(),
              AddTensor(*all[i], all[i]->type, static_cast<int64_t>(i), alignments_[i], false));
      if (all[i] == &convolution_.result()) result_ = tensors_.back();
    }
    for (size_t i = 0; i < convolution_.steps.size(); ++i) {
      constexpr uint64_t kAlignment = 16;
      HLO_TRY(on_the_way_.emplace_back(), AddTensor(convolution_.result(), convolution_.types->sums,
                                                    static_cast<int64_t>(all.size() + i), kAlignment, true));
    }
    return {};
  }
  /// What the convolution writes, or a step.
  [[nodiscard]] const Descriptor& After(size_t steps) const {
    return steps == on_the_way_.size() ? *result_ : *on_the_way_[steps];
  }

  Result<Descriptor*> AddWindow() {
    HLO_TRY(Descriptor* const made, Add(CudnnDescriptorKind::Convolution));
    const auto each = [&](A attribute, int64_t LibraryConvolution::Dim::* figure) {
      llvm::SmallVector<int64_t, 3> figures;
      for (const LibraryConvolution::Dim& dim : convolution_.dims) figures.push_back(dim.*figure);
      return made->SetEach(attribute, T::Int64, llvm::ArrayRef<int64_t>(figures));
    };
    const CudnnMode mode = convolution_.flipped ? CudnnMode::Convolution : CudnnMode::CrossCorrelation;
    const auto dims = static_cast<int64_t>(convolution_.dims.size());
    HLO_CHECK_OK(made->Set(A::ConvolutionDims, T::Int64, dims));
    HLO_CHECK_OK(made->Set(A::ConvolutionType, T::DataType, NumberOf(convolution_.types->sums)));
    HLO_CHECK_OK(made->Set(A::ConvolutionMode, T::ConvolutionMode, mode));
    HLO_CHECK_OK(each(A::ConvolutionStrides, &LibraryConvolution::Dim::stride));
    HLO_CHECK_OK(each(A::ConvolutionDilations, &LibraryConvolution::Dim::dilation));
    HLO_CHECK_OK(each(A::ConvolutionPrePaddings, &LibraryConvolution::Dim::before));
    HLO_CHECK_OK(each(A::ConvolutionPostPaddings, &LibraryConvolution::Dim::after));
    HLO_CHECK_OK(made->Finish());
    return made;
  }

  Status AddConvolution() {
    HLO_TRY(const Descriptor* const window, AddWindow());
    const OperationRow& row = *llvm::find_if(
        kOperations, [&](const OperationRow& r) { return r.direction == convolution_.direction; });
    HLO_TRY(Descriptor* const made, Add(row.kind));
    const std::pair<A, const LibraryTensor*> arrays[] = {{row.image, &convolution_.image},
                                                         {row.filter, &convolution_.filter},
                                                         {row.response, &convolution_.response}};
    for (size_t i = 0; i < std::size(arrays); ++i) {
      const bool written = arrays[i].second == &convolution_.result();
      HLO_CHECK_OK(made->Set(arrays[i].first, written ? After(0) : *tensors_[i]));
    }
    HLO_CHECK_OK(made->Set(row.convolution, *window));
    const auto factor = [&](A attribute, double value) {
      if (convolution_.types->sums == ElementType::F64) return made->Set(attribute, T::Double, value);
      return made->Set(attribute, T::Float, static_cast<float>(value));
    };
    HLO_CHECK_OK(factor(row.alpha, convolution_.alpha));
    HLO_CHECK_OK(factor(row.beta, 0));
    HLO_CHECK_OK(made->Finish());
    operations_.push_back(made->handle());
    return {};
  }

  Status AddSteps() {
    constexpr size_t kOfConvolution = 3;  // tensors in front of those of steps
    size_t operand = kOfConvolution;
    for (size_t i = 0; i < convolution_.steps.size(); ++i) {
      const EpilogueStep::Op op = convolution_.steps[i].op;
      HLO_TRY(Descriptor* const kind, Add(CudnnDescriptorKind::Pointwise));
      const StepRow& row = *llvm::find_if(kSteps, [&](const StepRow& r) { return r.op == op; });
      HLO_CHECK_OK(kind->Set(A::PointwiseMode, T::PointwiseMode, row.mode));
      HLO_CHECK_OK(kind->Set(A::PointwisePrecision, T::DataType, NumberOf(convolution_.types->sums)));
      if (op == EpilogueStep::Op::Relu)
        HLO_CHECK_OK(kind->Set(A::PointwiseNans, T::NanPropagation, CudnnNan::Propagate));
      HLO_CHECK_OK(kind->Finish());
      HLO_TRY(Descriptor* const made, Add(CudnnDescriptorKind::PointwiseOperation));
      HLO_CHECK_OK(made->Set(A::OperationPointwise, *kind));
      HLO_CHECK_OK(made->Set(A::OperationX, After(i)));
      if (op != EpilogueStep::Op::Relu) HLO_CHECK_OK(made->Set(A::OperationB, *tensors_[operand++]));
      HLO_CHECK_OK(made->Set(A::OperationY, After(i + 1)));
      HLO_CHECK_OK(made->Finish());
      operations_.push_back(made->handle());
    }
    return {};
  }

  const Cudnn& library_;
  const LibraryConvolution& convolution_;
  llvm::SmallVector<uint64_t, 5> alignments_;
  std::list<Descriptor> parts_;
  llvm::SmallVector<const Descriptor*, 6> tensors_, on_the_way_;
  const Descriptor* result_ = nullptr;
  llvm::SmallVector<CudnnDescriptor, 4> operations_;
};

class ConvolutionPlan final : public LibraryPlan {
 public:
  ConvolutionPlan(std::shared_ptr<Cudnn> library, LibraryConvolution convolution)
      : library_(std::move(library)), convolution_(std::move(convolution)) {}

  Status Search(const LibraryArrays& alignments) {
    Graph graph(*library_, convolution_, alignments);
    HLO_TRY(const Descriptor* const made, graph.Make());
    const Status found = FindEngine(*made);
    parts_ = std::move(graph).TakeParts();
    return found;
  }

  [[nodiscard]] size_t workspace_bytes() const override { return static_cast<size_t>(workspace_); }
  Status Run(const LibraryCall& call) const override {
    const auto at = AddressesOf(convolution_, call.at);
    HLO_TRY(Descriptor arrays, Descriptor::Make(*library_, CudnnDescriptorKind::Arrays));
    llvm::SmallVector<int64_t, 5> ids;
    for (size_t i = 0; i < at.size(); ++i) ids.push_back(static_cast<int64_t>(i));
    HLO_CHECK_OK(arrays.SetEach(A::ArraysIds, T::Int64, llvm::ArrayRef<int64_t>(ids)));
    // Addresses of a GPU are as wide as pointers.
    HLO_CHECK_OK(arrays.SetEach(A::ArraysPointers, T::Pointer, llvm::ArrayRef<uint64_t>(at)));
    HLO_CHECK_OK(arrays.Set(A::ArraysWorkspace, T::Pointer, call.workspace));
    HLO_CHECK_OK(arrays.Finish());
    return library_->Execute(call.stream, plan_->handle(), arrays.handle());
  }

 private:
  Status FindEngine(const Descriptor& graph) {
    HLO_TRY(Descriptor search, Descriptor::Make(*library_, CudnnDescriptorKind::Search));
    HLO_CHECK_OK(search.Set(A::SearchGraph, graph));
    HLO_CHECK_OK(search.Set(A::SearchMode, T::SearchMode, CudnnSearch::ByRules));
    HLO_CHECK_OK(search.Finish());
    std::vector<Descriptor> configs;
    std::vector<CudnnDescriptor> handles;
    while (configs.size() < kMostConfigs) {
      HLO_TRY(Descriptor config, Descriptor::Make(*library_, CudnnDescriptorKind::EngineConfig));
      handles.push_back(config.handle());
      configs.push_back(std::move(config));
    }
    HLO_TRY(const size_t count, search.GetAll(A::SearchResults, T::Descriptor, configs.size(),
                                              static_cast<void*>(handles.data())));
    for (Descriptor& config : llvm::MutableArrayRef(configs).take_front(count)) {
      HLO_TRY(const bool fits, IsExact(config));
      if (fits && Take(config)) return {};
    }
    return Decline({}, "cuDNN finds no way");
  }

  /// Whether an engine does only what it may.
  Result<bool> IsExact(const Descriptor& config) const {
    HLO_TRY(const Descriptor engine, Descriptor::Make(*library_, CudnnDescriptorKind::Engine));
    CudnnDescriptor handle = engine.handle();
    HLO_TRY([[maybe_unused]] const size_t one,
            config.GetAll(A::ConfigEngine, T::Descriptor, 1, static_cast<void*>(&handle)));
    CudnnNote notes[kMostNotes] = {};
    HLO_TRY(const size_t count, engine.GetAll(A::EngineNotes, T::Note, kMostNotes, &notes[0]));
    return llvm::none_of(llvm::ArrayRef(notes).take_front(count),
                         [](CudnnNote note) { return llvm::is_contained(kForbidden, note); });
  }

  /// Makes a plan of it. False: it is not for this GPU, or takes too much memory.
  bool Take(Descriptor& config) {
    auto made = MakePlan(config);
    if (!made || made->second > kMostWorkspace) return false;
    config_ = std::move(config);
    plan_ = std::move(made->first);
    workspace_ = made->second;
    return true;
  }
  Result<std::pair<Descriptor, int64_t>> MakePlan(const Descriptor& config) const {
    HLO_TRY(Descriptor plan, Descriptor::Make(*library_, CudnnDescriptorKind::Plan));
    HLO_CHECK_OK(plan.Set(A::PlanHandle, T::Handle, library_->handle()));
    HLO_CHECK_OK(plan.Set(A::PlanConfig, config));
    HLO_CHECK_OK(plan.Finish());
    int64_t workspace = 0;
    HLO_TRY([[maybe_unused]] const size_t one, plan.GetAll(A::PlanWorkspace, T::Int64, 1, &workspace));
    return std::pair(std::move(plan), workspace);
  }

  std::shared_ptr<Cudnn> library_;
  LibraryConvolution convolution_;
  std::list<Descriptor> parts_;  // of the graph
  std::optional<Descriptor> config_, plan_;
  int64_t workspace_ = 0;
};

}  // namespace

Result<std::unique_ptr<LibraryPlan>> PlanConvolution(std::shared_ptr<Cudnn> library,
                                                     const LibraryConvolution& convolution,
                                                     const LibraryArrays& alignments) {
  auto plan = std::make_unique<ConvolutionPlan>(std::move(library), convolution);
  HLO_CHECK_OK(plan->Search(alignments));
  return std::unique_ptr<LibraryPlan>(std::move(plan));
}

}  // namespace hlo::gpu
